"""The page: gather.py and what it calls read, view modules arrange, templates show; only app.py knows Airflow.

- app: The page's addresses. Airflow does not guard a plugin's.
- page: Everything the page shows of a stream, read from the catalog, the warehouse and the tracking store.
- render: Templates, filled in. Everything is escaped unless it is a template's own text.
- read: What the page reads.
- view: What the page shows.
"""
