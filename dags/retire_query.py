"""# heddle_retire_query

Takes a query out of the catalog. It leaves the champion plan by Incremental WeaveShare, and the changed plan is
promoted, which starts `heddle_evaluate`; where it has drifted beyond the tolerance, `heddle_replan` follows at once.
What the query has answered so far stays in the warehouse; where the catalog is under git, the change is committed.
A dry run logs the change of the plan and its cost, and writes nothing.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import dag

from dags import forms
from dags.assets import PLAN
from dags.common import DAG_OPTIONS, LOG, announce_drift, skip_rest, step

PARAMS = {
    "id": forms.query(),
    "tolerance": forms.tolerance(),
    "dry_run": forms.dry_run(),
}


@dag("heddle_retire_query", schedule=None, params=PARAMS, doc_md=__doc__, **DAG_OPTIONS)
def retire_query() -> None:
    """Take the query out of the catalog, weave the plan without it."""

    @step(retries=0)
    def write(params: dict[str, Any], dag_run: Any) -> str:
        from jobs.steps.replan import preview_retirement, retire_query

        if params["dry_run"]:
            preview_retirement(params["id"], LOG.info)
            skip_rest()
        return retire_query(params["id"], LOG.info, dag_run.triggering_user_name or "")

    @step(outlets=[PLAN])
    def weave(stream: str, params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.replan import weave_once

        return weave_once(stream, run_id, params["tolerance"], LOG.info)

    announce_drift(weave(write()))


retire_query()
