"""# heddle_evaluate

Evaluates what has arrived on every stream by its champion plan: a micro-batch on Spark, written unpublished, and in the
same session an audit of a sample of its windows against plain Spark; then the batch is published, which changes the
asset `heddle_results_STREAM`. If the audit fails, the batch stays quarantined, the run fails, and `heddle_quarantine`
asks a person what to do with it. Last, what was measured is logged beside what was estimated.

Every five minutes, when a plan has been promoted, when files arrive (HEDDLE_WATCH), or from the form. A stream on which
nothing has arrived is left out. Repeating a step is safe: what is committed or published is skipped.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import dag, task_group

from dags import forms
from dags.assets import PLAN, events_assets
from dags.common import DAG_OPTIONS, LOG, STREAM, STREAM_OF_BATCH, deadline, publish, schedule, step, submit

EVENTS = events_assets()
SCHEDULE = schedule("*/5 * * * *", [PLAN, *EVENTS], timedelta(0))
DEADLINE = deadline("HEDDLE_DEADLINE", 30)
PARAMS = {
    "stream": forms.stream(every=True),
    "files_per_batch": forms.count("Files per batch", "At most so many files a micro-batch; 0 takes all at once."),
    "sample": forms.count(
        "Sample",
        "Windows of each sampled query that the audit recomputes; five queries a batch, others every time.",
        default=5,
    ),
}


@dag("heddle_evaluate", schedule=SCHEDULE, deadline=DEADLINE, params=PARAMS, doc_md=__doc__, **DAG_OPTIONS)
def evaluate() -> None:
    """Prepare, evaluate, audit, publish and log a micro-batch of every stream."""

    @step(inlets=EVENTS)
    def streams(params: dict[str, Any]) -> list[str]:
        from jobs.steps.submit import streams_with_work

        return streams_with_work(params["stream"], LOG.info)

    @step(map_index_template=STREAM)
    def prepare(stream: str, params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.submit import prepare

        return prepare(stream, run_id, params["files_per_batch"], params["sample"], LOG.info)

    @step(map_index_template=STREAM_OF_BATCH)
    def log(batch: dict[str, Any]) -> dict[str, Any]:
        from jobs.steps.submit import log_batch

        return log_batch(batch, LOG.info)

    @task_group
    def micro_batch(stream: str) -> None:
        batch = prepare(stream=stream)
        submit("evaluate", "expectations/micro_batch.py", batch) >> [publish(batch), log(batch=batch)]

    micro_batch.expand(stream=streams())


evaluate()
