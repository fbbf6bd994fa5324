"""A catalog as typed data.

- catalog: A catalog, understood, and its statements as SQL again: the user's, and the oracle's for plain Spark.
- query: What a catalog holds: streams, queries, the statements they came from, and what a user expects of them.
- source_files: Which of the files below a source's path are its data, and what their folders say.
- table: Queries by the million: columns instead of objects. A Query is made when someone asks for it.
"""
