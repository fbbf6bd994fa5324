"""# heddle_register_query

Adds a query to the catalog from the form: one aggregate or several, or a whole SELECT. It is checked as the catalog's
own files are: a mistake fails the first task with its line, and nothing is written. Where the catalog is under git, the
change is committed with the name of who asked. The query then joins the champion plan by Incremental WeaveShare, and
the changed plan is promoted, which starts `heddle_evaluate`. Where it has drifted beyond the tolerance, `heddle_replan`
follows at once. A dry run logs the change of the plan and its cost, and writes nothing.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag

from dags import forms
from dags.assets import PLAN
from dags.common import DAG_OPTIONS, LOG, announce_drift, skip_rest, step

PARAMS = {
    "id": Param(None, "A new name: a to z, digits and _.", type="string", pattern=forms.ID, title="Id"),
    "stream": forms.stream(),
    "select": forms.lines("Select", "The aggregate, such as max(price); several on a line each, named by AS."),
    "sql": forms.lines("SQL", "A whole SELECT instead; of the other fields only the id counts then."),
    "where": forms.text("Where", "Only events that pass it count; empty: all."),
    "group_by": Param(
        [], "A result per key of these columns.", type=["null", "array"], items={"type": "string"}, title="Group by"
    ),
    "range": Param("1 minute", "How long a window is.", type="string", pattern=forms.DURATION, title="Range"),
    "slide": Param("10 seconds", "How often one ends.", type="string", pattern=forms.DURATION, title="Slide"),
    "offset": forms.text("Offset", "By how much starts are shifted; empty: not.", pattern=f"{forms.DURATION}|^$"),
}
FORM = {**PARAMS, "tolerance": forms.tolerance(), "dry_run": forms.dry_run()}


@dag("heddle_register_query", schedule=None, params=FORM, doc_md=__doc__, **DAG_OPTIONS)
def register_query() -> None:
    """Write the query into the catalog, weave it into the plan."""

    @step(retries=0)
    def write(params: dict[str, Any], dag_run: Any) -> str:
        from jobs.steps.replan import preview_query, register_query

        form = {name: params[name] for name in PARAMS}
        if params["dry_run"]:
            preview_query(form, LOG.info)
            skip_rest()
        return register_query(form, LOG.info, dag_run.triggering_user_name or "")

    @step(outlets=[PLAN])
    def weave(stream: str, params: dict[str, Any], run_id: str) -> dict[str, Any]:
        from jobs.steps.replan import weave_once

        return weave_once(stream, run_id, params["tolerance"], LOG.info)

    announce_drift(weave(write()))


register_query()
