"""A catalog as typed data.

- catalog: A catalog, understood: its streams, its queries, and the statements the queries came from.
- query: What a catalog holds: streams, queries, the statements they came from, and what a user expects of them.
- render: Statements as SQL again: as the user may write them, and as plain Spark runs them (the oracle).
- source_files: Which of the files below a source's path are its data, and what their folders say.
- table: Queries by the million: columns instead of objects. A Query is made when someone asks for it.
"""
