"""The page in Airflow: `read` reads, `view` arranges, templates show; only app knows Airflow.

- app: The page's addresses, each of which asks for a user who may read the DAGs.
- page: Everything the page shows of a stream, and its figures in the text format that Prometheus scrapes.
- query: One query, opened: a larger chart of its windows, the numbers as a table, its SQL.
- show: The templates, and how they print moments, shares and numbers.
- read: What the page reads.
- view: What the page shows.
"""
