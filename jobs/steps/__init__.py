"""What an Airflow task calls: one file per DAG.

- compare_strategies: A scheduled comparison: what its job is called with, and how its report is logged.
- evaluate: A scheduled micro-batch or backfill: which streams have work, what the steps are told, how it is logged.
- replan: A scheduled change of a champion: by a replan, or because a query joins or leaves the catalog.
"""
