"""The page in Airflow: `read` reads, `view` arranges, templates show; only app knows Airflow.

- app: The page's addresses, each of which asks for a user who may read the DAGs.
- page: Everything the page shows of a stream, and the templates that show it.
- read: What the page reads.
- view: What the page shows.
"""
