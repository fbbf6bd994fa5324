"""# heddle_settle_batch

Decides about a batch whose audit failed: release publishes it as it is, discard keeps it from readers for good. Its
files stay in either case, so that a discarded batch can still be released.

From the form only. The page Heddle lists what is quarantined, with a link to each audit's page.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param, dag

from dags import forms
from dags.common import DAG_OPTIONS, LOG, deliver_results, step

DECISIONS = ["discard", "release"]
PARAMS = {
    "stream": forms.stream(),
    "batch": forms.count("Batch", "The number of the quarantined batch."),
    "decision": Param(None, "Publish it as it is, or never.", type="string", enum=DECISIONS, title="Decision"),
}


@dag("heddle_settle_batch", schedule=None, params=PARAMS, doc_md=__doc__, **DAG_OPTIONS)
def settle_batch() -> None:
    """Release or discard, in one step."""

    @step(retries=0)
    def decide(params: dict[str, Any]) -> None:
        from expectations.publish import settle_batch
        from jobs.host.settings import settings

        release = params["decision"] == "release"
        place = settings()
        line = settle_batch(place.warehouse, params["stream"], params["batch"], release)
        LOG.info("%s: %s", params["stream"], line)
        deliver_results(params["stream"])

    decide()


settle_batch()
