"""The page in Airflow: `read` reads, `view` arranges, templates show; only app knows Airflow.

- app: The page's addresses, each of which asks for a user who may read the DAGs.
- page: Everything the page shows of a stream, read from the catalog, the warehouse and the tracking store.
- read: What the page reads.
- render: Templates, filled in; everything is escaped unless it is a template's own text.
- view: What the page shows.
"""
