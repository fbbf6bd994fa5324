"""What the developers run: generators of pages and of tables.

- hyperloglog: Writes down the tables of Spark's HyperLogLog++.
- pages: Pages of docs/ that are generated from tables.
- site_links: A hook of the site: links to files of the repository.
"""
