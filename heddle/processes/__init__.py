"""The processes that `heddle demo` and `heddle ui` start.

- airflow: Airflow in a process of its own, with its own home: DAGs are run for real, without a scheduler.
- services: Processes that serve until they are stopped: started in groups of their own.
"""
