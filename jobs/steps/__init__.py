"""What an Airflow task calls.

- submit: Scheduled jobs (micro-batch, backfill, comparison): which streams have work, what a job is told, its log.
- replan: A scheduled change of a champion: by a replan, or because a query joins or leaves the catalog.
"""
