"""# heddle_quarantine

Asks a person about every batch whose audit failed, with the rows that failed it, under Required Actions: release
publishes it as it is, discard keeps it from readers for good, repair computes it anew (`heddle_backfill`), after which
it waits for its audit again. The answer, and who gave it, stays in the log. A batch that was decided elsewhere
meanwhile (`heddle_settle_batch`, `heddle check`) is left as it is.

When `heddle_evaluate` has quarantined a batch. A question waits for 30 days and holds no slot meanwhile.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.hitl import HITLOperator
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import dag, task_group

from dags.assets import QUARANTINE
from dags.common import DAG_OPTIONS, LOG, deliver_results, step

PATIENCE = timedelta(days=30)
OPTIONS = {**DAG_OPTIONS, "max_active_runs": 16, "dagrun_timeout": PATIENCE + timedelta(days=1)}
NAME = "{{ task.op_kwargs['question']['stream'] }}"


@step
def questions(triggering_asset_events: Any) -> list[dict[str, Any]]:
    """Return what is to be asked about every quarantined batch."""
    from expectations.publish import make_question

    return [make_question(event.extra) for event in triggering_asset_events[QUARANTINE]]


@step(map_index_template=NAME)
def phrase(question: dict[str, Any]) -> dict[str, Any]:
    """Return one question, whose parts the tasks after it name."""
    return question


@step(map_index_template=NAME)
def settle(question: dict[str, Any], answer: dict[str, Any]) -> None:
    """Do what was answered, and deliver what that has published."""
    from expectations.publish import settle_question

    settle_question(question, answer, LOG.info)
    deliver_results(question["stream"])


@step(map_index_template=NAME)
def wants_repair(question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return what the backfill is to repair; skip it where the answer is another."""
    from airflow.sdk.exceptions import AirflowSkipException

    if "repair" not in answer["chosen_options"]:
        raise AirflowSkipException("nothing is to be repaired")
    return {"stream": question["stream"], "repair": True}


@dag("heddle_quarantine", schedule=[QUARANTINE], doc_md=__doc__, **OPTIONS)
def quarantine() -> None:
    """Ask about every quarantined batch, and do what was answered."""

    @task_group
    def decide(question: dict[str, Any]) -> None:
        phrased = phrase(question=question)
        answer = HITLOperator(
            task_id="ask", subject=phrased["subject"], body=phrased["body"], options=["release", "discard", "repair"],
            response_timeout=PATIENCE, execution_timeout=None, map_index_template="{{ task.subject }}",
        )  # fmt: skip
        settle(question=phrased, answer=answer.output)
        wish = wants_repair(question=phrased, answer=answer.output)
        TriggerDagRunOperator(
            task_id="repair", trigger_dag_id="heddle_backfill", conf=wish, map_index_template="{{ task.conf.stream }}"
        )

    decide.expand(question=questions())


quarantine()
