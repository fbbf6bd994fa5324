"""Bytes that follow the coverage of the code, for ten minutes before a release: no traceback, nothing dangerous.

`make hostile TARGET=catalog MINUTES=10` and TARGET=page, with atheris in an environment of its own.

- catalog_reader: Catalogs of any bytes.
- page_parameters: Addresses of the page with any parameters.
"""
