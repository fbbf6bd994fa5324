"""What Airflow schedules: parameters, order, schedule. Tasks import what is heavy when they run.

- assets: What other DAGs can wait for: plans, drift, the results of every stream; and watched folders of events.
- backfill: Compute a past interval of a stream, or its quarantined batches, anew.
- common: What all DAGs have in common: schedules, safe retries, timeouts, Spark jobs, the step of a user.
- compare_strategies: Evaluate the same events under several plans, and log how fast each really is.
- evaluate: Evaluate what has arrived on every stream; audit, publish and log it.
- forms: The fields of the forms with their descriptions and checks, and the names that they offer.
- local_runs: Run DAGs as Airflow does, one after another, without a scheduler.
- notify: The notifier of all DAGs: one line to the log and to the targets of HEDDLE_ALERTS.
- quarantine: Ask a person about every batch whose audit failed, and do what was answered.
- register_query: Add a query to the catalog from the form, and weave it into the champion plan.
- replan: Plan every stream by what is measured of it, and promote a plan that is cheaper.
- retire_query: Take a query out of the catalog and out of the champion plan.
- settle_batch: Release or discard a batch whose audit failed.
"""
