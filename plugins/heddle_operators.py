"""Operators that put Heddle into a DAG of one's own: replan a stream, or evaluate, audit and publish it, in one task.

Each has links to the plan, the audits and MLflow. `apache_airflow_provider` names what is here to Airflow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
from airflow.sdk import BaseOperator, BaseOperatorLink
from airflow.sdk.configuration import conf
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from optimizer.errors import HeddleError

LOG = logging.getLogger("heddle")
MICRO_BATCH = Path(__file__).resolve().parents[1] / "expectations" / "micro_batch.py"


def _page(stream: str, place: str = "") -> str:
    """Return the address of a stream on the page in Airflow."""
    return f"{str(conf.get('api', 'base_url', fallback='')).rstrip('/')}/heddle/?stream={stream}{place}"


@attrs.define()
class PlanLink(BaseOperatorLink):
    """The plan in force."""

    name = "Plan"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the stream's page."""
        return _page(operator.stream)


@attrs.define()
class AuditLink(BaseOperatorLink):
    """The audit of the batch, or all audits of the stream."""

    name = "Audit"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the audit's page once there is one."""
        return operator.links.get("audit") or _page(operator.stream, "#audits")


@attrs.define()
class MlflowLink(BaseOperatorLink):
    """The MLflow run that the task has logged."""

    name = "MLflow"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the run's page once there is one, and where MLflow's address is known."""
        return operator.links.get("mlflow") or ""


class _HeddleOperator(BaseOperator):
    """A task about one stream; a user's mistake fails it with one line and without a retry."""

    template_fields: Sequence[str] = ("stream",)

    def __init__(self, *, stream: str, **options: Any) -> None:
        super().__init__(**options)
        self.stream = stream
        self.links: dict[str, str] = {}

    def _try(self, work: Callable[[str], dict[str, Any]], context: Any) -> dict[str, Any]:
        try:
            return work(str(context["run_id"]))
        except HeddleError as error:
            raise AirflowFailException(str(error)) from None

    def _link_run(self, experiment: Any, run: Any) -> None:
        from plugins.heddle_page.read.history import run_link

        self.links["mlflow"] = run_link(str(experiment), str(run))


class HeddleReplanOperator(_HeddleOperator):
    """Plans a stream by what is measured of it, and promotes a plan that is cheaper than the champion."""

    operator_extra_links = (PlanLink(), MlflowLink())

    def __init__(
        self,
        *,
        stream: str,
        strategies: Sequence[str] = (),
        technique: str = "",
        rate: float | None = None,
        promote: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(stream=stream, **options)
        self.strategies, self.technique, self.rate, self.promote = list(strategies), technique, rate, promote

    def execute(self, context: Any) -> dict[str, Any]:
        """Replan, once for every run of the DAG."""
        return self._try(self._replan, context)

    def _replan(self, run: str) -> dict[str, Any]:
        from jobs.plans.replan import MEASURED
        from jobs.steps.replan import replan_once
        from optimizer.planning.choices import REPLANNED_STRATEGIES

        wish = {
            "strategies": self.strategies or list(REPLANNED_STRATEGIES),
            "technique": self.technique or MEASURED,
            "rate": self.rate,
            "keys": None,
            "promote": self.promote,
        }
        return replan_once(self.stream, wish, run, LOG.info)


class HeddleEvaluateOperator(_HeddleOperator):
    """Evaluates what has arrived on a stream by its champion plan, audits it, publishes and logs it.

    It returns what was published, as the event of the asset `heddle_results_STREAM` has it. An audit that fails
    quarantines the batch and fails the task. Spark is the connection `conn_id`.
    """

    operator_extra_links = (PlanLink(), AuditLink(), MlflowLink())

    def __init__(
        self,
        *,
        stream: str,
        sample: int = 5,
        files_per_batch: int = 0,
        conn_id: str = "spark_default",
        **options: Any,
    ) -> None:
        super().__init__(stream=stream, **options)
        self.sample, self.files_per_batch, self.conn_id = sample, files_per_batch, conn_id

    def execute(self, context: Any) -> dict[str, Any]:
        """Evaluate, audit, publish, log; what a try before this one has committed is not done again."""
        return self._try(self._evaluate, context)

    def _evaluate(self, run: str) -> dict[str, Any]:
        from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

        from expectations.publish import act_on_verdict, require_passed
        from jobs.host.command_line import ended_by_mistake
        from jobs.steps.submit import log_batch, prepare

        batch = prepare(self.stream, run, self.files_per_batch, self.sample, LOG.info)
        hook = SparkSubmitHook(
            conn_id=self.conn_id,
            name=batch["name"],
            conf=batch["conf"],
            env_vars=batch["env_vars"],
            application_args=batch["evaluate"],
        )
        try:
            hook.submit(str(MICRO_BATCH))
        except AirflowException as error:
            if ended_by_mistake(hook):
                raise AirflowFailException("the job ended by a mistake, which its last lines name") from error
            raise
        outcome = act_on_verdict(batch, LOG.info, _page("").partition("/heddle/")[0])
        self.links["audit"] = outcome["page"]
        logged = log_batch(batch, LOG.info)
        self._link_run(logged["experiment"], logged["run"])
        require_passed(outcome)
        return outcome
