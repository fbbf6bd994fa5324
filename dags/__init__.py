"""What Airflow schedules: parameters, order, schedule. Tasks import what is heavy when they run.

- backfill: the DAG of that name.
- common: What all DAGs have in common: the plan asset, safe retries, one readable line when a task fails.
- compare_strategies: the DAG of that name.
- evaluate: the DAG of that name.
- forms: The fields of the forms, each with its description and its checks; the tables' names are listed here.
- local_runs: Runs DAGs as Airflow does, one after another, without a scheduler.
- register_query: the DAG of that name.
- replan: the DAG of that name.
- retire_query: the DAG of that name.
- settle_batch: the DAG of that name.
"""
