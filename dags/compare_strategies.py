"""# heddle_compare_strategies

Evaluates the same events under several strategies and techniques, each from scratch in a warehouse of its own that is
thrown away, and logs one MLflow run each below a parent run. MLflow's own comparison page over them, and the parent's
chart, answer which plan is really faster, and how far the estimates are off.

From the form only. The stream's results, state and champion are not touched.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import dag

from dags import forms
from dags.common import LOG, LONG_OPTIONS, step, submit

PARAMS = {
    "stream": forms.stream(),
    "strategies": forms.strategies(["no_share", "weave_share", "cascade"]),
    "techniques": forms.techniques(["two_stacks_block"]),
    "rate": forms.number("Events per second", "Lambda, how many events come in a second"),
    "keys": forms.number("Keys", "How many keys are active in a slice, on average"),
    "files": forms.count("Files", "Only so many of the stream's oldest files; 0 takes all.", default=8),
}


@dag("heddle_compare_strategies", schedule=None, params=PARAMS, doc_md=__doc__, **LONG_OPTIONS)
def compare_strategies() -> None:
    """Prepare the arguments, run one Spark job, log its report."""

    @step
    def arguments(params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.submit import comparison_arguments

        return comparison_arguments(params, run_id)

    @step
    def log(job: dict[str, Any]) -> dict[str, Any]:
        from jobs.steps.submit import log_report

        return log_report(job, LOG.info)

    job = arguments()
    submit("compare", "jobs/compare.py", job) >> log(job)


compare_strategies()
