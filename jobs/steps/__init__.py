"""What an Airflow task calls: one file per DAG.

- backfill: A scheduled backfill: what its job is called with.
- compare_strategies: A scheduled comparison: what its job is called with, and how its report is logged.
- evaluate: A scheduled micro-batch of a stream: what its steps are called with, where their reports go.
- queries: A scheduled change of the queries: one joins or leaves the catalog, and the champion is changed for it.
- replan: A scheduled replan of a stream, and the old runs in MLflow that are forgotten.
- streams: The streams a scheduled step works on.
"""
