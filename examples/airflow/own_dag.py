"""A DAG of one's own with Heddle in it: evaluate a stream after something else, then use what was published."""

from __future__ import annotations

from typing import Any

from airflow.sdk import dag, task

from plugins.heddle_operators import HeddleEvaluateOperator, HeddleReplanOperator


@dag("own_dag_with_heddle", schedule=None, tags=["example"])
def own_dag() -> None:
    """Load, plan, evaluate, report."""

    @task
    def load_events() -> None:
        """Put files into the folder of the stream, as your own pipeline does."""

    @task
    def report(published: dict[str, Any]) -> str:
        return f"{published['rows']:,} rows up to {published['watermark']}"

    plan = HeddleReplanOperator(task_id="plan", stream="readings", rate=5000)
    evaluate = HeddleEvaluateOperator(task_id="evaluate", stream="readings", sample=2)
    load_events() >> plan >> evaluate
    report(evaluate.output)


own_dag()
