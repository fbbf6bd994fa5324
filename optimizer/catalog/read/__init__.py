"""A catalog read from files.

- bulk: The bulk form of machine-made catalogs: a Parquet or CSV file with a row for each query, read as columns.
- draft: A catalog while it is being read: streams, queries and problems so far.
- entries: The two forms people write: entries of a YAML file, and a SQL file for each query.
- expect: The entries of `expect:` on a stream or a query, checked one by one.
- load: A folder, or queries of a Python program -> Catalog, or every problem at once; checked against its events.
- selects: One aggregate of a select list: which it is, over what, under which name.
- source_options: Options of a source: which a format has, and what their values may be.
- statements: A whole SELECT: keys, window, aggregates and HAVING over one stream, as the user's own Spark SQL says it.
- streams: Streams and static tables: sources and sinks, where files may be, the SQL of streams made from others.
- yaml_file: The YAML of a catalog: its shape, and a reader of plain texts that keeps the line of everything.
"""
