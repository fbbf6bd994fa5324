"""# heddle_backfill

Computes a past interval of a stream anew, from the raw events and by the champion plan, into a warehouse of its own
below the platform's home. The live state and results are only read, and `heddle_evaluate` may go on meanwhile. With
repair, the batches that an audit has quarantined are computed anew instead, where they are; they wait for their audit
again.

From the form only. Repeating it is safe: the same interval gives the same results.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag

from dags import forms
from dags.common import LOG, LONG_OPTIONS, step, submit

TIME: dict[str, Any] = {"type": ["null", "string"], "format": "date-time"}
PARAMS = {
    "stream": forms.stream(),
    "from": Param(None, "Windows that end after this time; empty: all up to the next field.", title="From", **TIME),
    "to": Param(None, "Windows that end up to this time; not for a repair.", title="To", **TIME),
    "repair": Param(False, "Compute the quarantined batches anew, in place.", type="boolean", title="Repair"),
}


@dag("heddle_backfill", schedule=None, params=PARAMS, doc_md=__doc__, **LONG_OPTIONS)
def backfill() -> None:
    """Prepare the arguments, run one Spark job."""

    @step
    def arguments(params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.submit import backfill_arguments

        return backfill_arguments(params, run_id, LOG.info)

    submit("backfill", "jobs/backfill.py", arguments())


backfill()
