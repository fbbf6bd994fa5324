"""A catalog read from files.

- bulk: The bulk form of machine-made catalogs: a Parquet or CSV file with a row for each query, read as columns.
- check: A catalog checked against its events: every column exists, every aggregate gets what it can add up.
- draft: A catalog while it is being read: what is understood so far, and every problem found.
- entries: The two forms people write: entries of a YAML file, and a SQL file for each query.
- load: A catalog folder -> Catalog, or every problem of it at once.
- paths: Where a stream's files may be: inside the configured roots, or behind a scheme that Spark reads.
- selects: One aggregate of a select list: which it is, over what, under which name.
- statements: A whole SELECT: keys, window and aggregates over one stream, as the user's own Spark SQL says it.
- streams: Streams and static tables: their sources, and the SQL of streams that are made from others.
- yaml_file: YAML as plain dictionaries of texts, with the line of everything; anchors.
- yaml_shape: The shape of a catalog's YAML. What the texts in it mean is checked afterwards.
"""
