"""# heddle_replan

Measures every stream from its recent data, plans it by the chosen strategies, and compares the cheapest plan with the
champion, costed again on the same catalog. A cheaper plan is registered, promoted and announced as the asset
`heddle_plan`, which starts `heddle_evaluate`. A plan that is not cheaper is logged and not promoted.

Nightly, when changes have made a plan drift (the asset `heddle_drift`), or from the form: which stream, which
strategies and technique, events per second measured or given, and whether to promote or only to log (dry run). Every
run is in MLflow, in its stream's experiment. Repeating is safe.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import Param, dag

from dags import forms
from dags.assets import DRIFT, PLAN
from dags.common import DAG_OPTIONS, LOG, STREAM, schedule, step

PARAMS = {
    "stream": forms.stream(every=True),
    "strategies": forms.strategies(["cascade", "weave_share", "tri_weave", "shared"]),
    "technique": forms.technique(),
    "rate": forms.number("Events per second", "Lambda, how many events come in a second"),
    "keys": forms.number("Keys", "How many keys are active in a slice, on average"),
    "promote": Param(
        True, "Promote the plan if it is better. Off: a dry run that only logs.", type="boolean", title="Promote"
    ),
}
SCHEDULE = schedule("0 3 * * *", [DRIFT], timedelta(minutes=5))


@dag("heddle_replan", schedule=SCHEDULE, params=PARAMS, doc_md=__doc__, **DAG_OPTIONS)
def replan() -> None:
    """Check the catalog, plan every stream, announce what was promoted."""

    @step
    def check_catalog(params: dict[str, Any]) -> list[str]:
        from jobs.steps.submit import select_streams

        return select_streams(params["stream"], LOG.info)

    @step(map_index_template=STREAM)
    def plan(stream: str, params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.replan import replan_once

        return replan_once(stream, params, run_id, LOG.info)

    @step(outlets=[PLAN])
    def announce(plans: list[dict[str, Any]], outlet_events: Any) -> None:
        from airflow.sdk.exceptions import AirflowSkipException

        promoted = {plan["stream"]: plan["version"] for plan in plans if plan["promoted"]}
        if not promoted:
            raise AirflowSkipException("no plan is better than its champion")
        outlet_events[PLAN].extra = {"promoted": promoted}

    @step
    def forget_old_runs(streams: list[str]) -> None:
        from jobs.steps.replan import forget_runs

        forget_runs(streams, LOG.info)

    streams = check_catalog()
    announce(plan.expand(stream=streams))
    forget_old_runs(streams)


replan()
