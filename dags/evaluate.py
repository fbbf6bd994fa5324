"""# heddle_evaluate

Evaluates what has arrived on every stream by its champion plan: a micro-batch on Spark, written unpublished, and in the
same session an audit of a sample of its windows against plain Spark; then the batch is published. If the audit fails,
the task `publish` fails and the batch stays quarantined: its page shows the rows, and the DAG `heddle_settle_batch` or
`heddle check` decides. Last, what was measured is logged beside what was estimated.

Every five minutes, when a plan has been promoted, or from the form. A stream on which nothing has arrived is left out.
Repeating a step is safe: a batch that is committed is skipped, a published one stays published.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import dag, task_group

from dags import forms
from dags.common import DAG_OPTIONS, LOG, PLAN, STREAM, STREAM_OF_BATCH, address, schedule, step, submit

SCHEDULE = schedule("*/5 * * * *", PLAN, timedelta(0))
PARAMS = {
    "stream": forms.stream(every=True),
    "files_per_batch": forms.count("Files per batch", "At most so many files a micro-batch; 0 takes all at once."),
    "sample": forms.count(
        "Sample",
        "Windows of each sampled query that the audit recomputes; five queries a batch, others every time.",
        default=5,
    ),
}


@dag("heddle_evaluate", schedule=SCHEDULE, params=PARAMS, doc_md=__doc__, **DAG_OPTIONS)
def evaluate() -> None:
    """Prepare, evaluate, audit, publish and log a micro-batch of every stream."""

    @step
    def streams(params: dict[str, Any]) -> list[str]:
        from jobs.steps.streams import streams_with_work

        return streams_with_work(params["stream"], LOG.info)

    @step(map_index_template=STREAM)
    def prepare(stream: str, params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.evaluate import prepare

        return prepare(stream, run_id, params["files_per_batch"], params["sample"], LOG.info)

    @step(map_index_template=STREAM_OF_BATCH)
    def publish(batch: dict[str, Any]) -> None:
        from expectations.publish import publish_batch

        publish_batch(batch, LOG.info, address())

    @step(map_index_template=STREAM_OF_BATCH)
    def log(batch: dict[str, Any]) -> dict[str, Any]:
        from jobs.steps.evaluate import log_batch

        return log_batch(batch, LOG.info)

    @task_group
    def micro_batch(stream: str) -> None:
        batch = prepare(stream=stream)
        submit("evaluate", "expectations/micro_batch.py", batch) >> [publish(batch=batch), log(batch=batch)]

    micro_batch.expand(stream=streams())


evaluate()
