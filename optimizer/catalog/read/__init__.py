"""A catalog read from files.

- bulk: The bulk form of machine-made catalogs: a Parquet or CSV file with a row for each query, read as columns.
- check: A catalog checked against its events: every column exists, every aggregate gets what it can add up.
- conditions: Conditions on a statement's rows, as HAVING has them, over the columns that it selects.
- draft: A catalog while it is being read: streams, queries and problems so far.
- entries: The two forms people write: entries of a YAML file, and a SQL file for each query.
- expect: The entries of `expect:` on a stream or a query, checked one by one.
- inline: Queries that a Python program writes down: a catalog without a folder, over one table of events.
- load: A catalog folder -> Catalog, or every problem of it at once.
- selects: One aggregate of a select list: which it is, over what, under which name.
- sinks: Sinks of a stream: which fields a format has, and that no credentials are among them.
- source_options: Options of a source: which a format has, and what their values may be.
- statements: A whole SELECT: keys, window and aggregates over one stream, as the user's own Spark SQL says it.
- streams: Streams and static tables: their sources, where files may be, and the SQL of streams made from others.
- yaml_file: YAML as plain dictionaries of texts, with the line of everything.
- yaml_shape: The shape of a catalog's YAML. What the texts in it mean is checked afterwards.
"""
