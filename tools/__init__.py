"""What the developers run: generators of pages.

- pages: Pages of docs/ that are generated from tables.
"""
