"""What all DAGs have in common: assets, schedules, safe retries, timeouts, one readable line when a task fails."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

from airflow.sdk import Asset, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable, task
from airflow.sdk.definitions.callback import AsyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from dags.assets import DRIFT, QUARANTINE, RESULTS, announce_hours, events_uri, results_asset
from dags.notify import HeddleNotifier, tell_alerts

LOG = logging.getLogger("heddle")
ROOT = Path(__file__).resolve().parents[1]
STREAM = "{{ task.op_kwargs['stream'] }}"  # what a mapped task is called in Airflow, instead of its number
STREAM_OF_BATCH = "{{ task.op_kwargs['batch']['stream'] }}"


def schedule(cron: str, assets: list[Asset], grace: timedelta) -> Any:
    """Return the schedule of a cron line in UTC, and of assets, any of which changes.

    Unpausing a DAG for the first time begins no run of the past, unless its time was less than `grace` ago. That takes
    no start date, and a span of time for run_immediately: Airflow 3.3 understands False as five minutes or more.
    """
    times = CronTriggerTimetable(cron, timezone="UTC", run_immediately=grace)
    return AssetOrTimeSchedule(timetable=times, assets=AssetAny(*assets))


def deadline(setting: str, default: float) -> DeadlineAlert:
    """Return an alert for a run that has not ended so many minutes after it was queued."""
    from jobs.host.settings import number_setting

    minutes = number_setting(setting, default)
    message = f"has not ended within {minutes:g} minutes: what it answers grows old"
    callback = AsyncCallback(HeddleNotifier, {"message": message})
    return DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, timedelta(minutes=minutes), callback, "freshness")


DEFAULTS: dict[str, Any] = {
    "retries": 2,  # every step may be repeated: a step skips what is done already
    "retry_delay": timedelta(seconds=30),
    "on_failure_callback": HeddleNotifier(),
    "execution_timeout": timedelta(hours=2),  # a task that hangs would stop its DAG for good: one run at a time
}
DAG_OPTIONS: dict[str, Any] = {
    "default_args": DEFAULTS,
    "catchup": False,
    "dagrun_timeout": timedelta(hours=6),
    "max_active_runs": 1,  # hence one evaluation of a stream at a time
    "tags": ["heddle"],
}
LONG_OPTIONS: dict[str, Any] = {  # of DAGs that work through much of the past
    **DAG_OPTIONS,
    "default_args": {**DEFAULTS, "execution_timeout": timedelta(hours=12)},
    "dagrun_timeout": timedelta(hours=36),
}


def submit(name: str, application: str, job: Any) -> Any:
    """Return the task of a Spark job on the connection spark_default; `job` is what the step before it returned."""
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk.exceptions import AirflowException, AirflowFailException

    class SubmittedJob(SparkSubmitOperator):
        """A job that is not tried again where it ended by a user's mistake."""

        def execute(self, context: Any) -> None:
            """Submit the job and wait for its end."""
            from jobs.host.command_line import ended_by_mistake

            try:
                super().execute(context)
            except AirflowException as error:
                if ended_by_mistake(self._hook):
                    raise AirflowFailException("the job ended by a mistake, which its last lines name") from error
                raise

    return SubmittedJob(
        task_id=name,
        application=str(ROOT / application),
        name=job["name"],
        map_index_template="{{ task.name }}",
        application_args=job[name],
        env_vars=job["env_vars"],
        conf=job["conf"],
        pre_execute=lambda context: LOG.info("%s: on Spark", context["task"].name.removeprefix("heddle ")),
    )


def address() -> str:
    """Return the address where people reach Airflow, and the page below it."""
    from airflow.sdk.configuration import conf

    return str(conf.get("api", "base_url", fallback="")).rstrip("/")


def connection(url: str) -> str:
    """Return the address that a sink's url names: of a connection of Airflow, or of an environment variable."""
    from jobs.sinks.deliver import environment

    if not url.startswith("airflow:"):
        return environment(url)
    from airflow.sdk import Connection

    return str(Connection.get(url.removeprefix("airflow:")).get_uri())


def deliver_results(stream: str) -> None:
    """Bring what a person's decision has published to the stream's sinks, and tell of the alerts in it."""
    from jobs.host.settings import settings
    from jobs.sinks.deliver import deliver
    from optimizer.catalog.read.load import load_catalog

    place = settings()
    alerts = deliver(load_catalog(place.catalog), stream, place.warehouse, LOG.info, connection)
    tell_alerts(alert.line for alert in alerts)


def step(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a task that ends with one line and without a retry on a user's mistake; other failures may be retried."""
    if function is None:
        return functools.partial(step, **options)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        from airflow.sdk.exceptions import AirflowException, AirflowFailException

        from optimizer.errors import HeddleError, UnreachableError

        try:
            return function(*args, **kwargs)
        except UnreachableError as error:
            raise AirflowException(str(error)) from None
        except HeddleError as error:
            raise AirflowFailException(str(error)) from None

    return task(**options)(run)


def skip_rest() -> NoReturn:
    """End a dry run: what was to be shown is in the log, and the tasks that would change something are skipped."""
    from airflow.sdk.exceptions import AirflowSkipException

    raise AirflowSkipException("a dry run: nothing was changed")


def tell_lineage(stream: str) -> None:
    """Tell those who collect lineage, as the OpenLineage provider does, that a stream's results came of its events."""
    from airflow.sdk.lineage import get_hook_lineage_collector

    collector = get_hook_lineage_collector()
    teller: Any = object()  # elsewhere a hook; it only tells entries apart
    collector.add_input_asset(teller, uri=events_uri(stream))
    collector.add_output_asset(teller, uri=results_asset(stream).uri)


def publish(batch: Any) -> Any:
    """Return the task that publishes a batch or puts it away, and tells so by an asset; the one after it fails when the
    audit has failed."""

    @step(map_index_template=STREAM_OF_BATCH, outlets=[RESULTS])
    def publish(batch: dict[str, Any], outlet_events: Any, ti: Any) -> dict[str, Any]:
        from expectations.publish import act_on_verdict

        outcome = act_on_verdict(batch, LOG.info, address(), connection)
        tell_alerts(outcome.get("alerts", ()))
        asset = results_asset(batch["stream"]) if outcome["passed"] else QUARANTINE
        if outcome["passed"]:
            tell_lineage(batch["stream"])
        if outcome["batches"]:
            outlet_events[RESULTS].add(asset, extra=outcome)
        if outcome.get("hours"):
            announce_hours(batch["stream"], outcome["hours"], ti.task, outlet_events)
        return outcome

    @step(map_index_template="{{ task.op_kwargs['outcome']['stream'] }}", retries=0)
    def require_passed(outcome: dict[str, Any]) -> None:
        from expectations.publish import require_passed

        require_passed(outcome)

    outcome = publish(batch=batch)
    require_passed(outcome=outcome)
    return outcome


def announce_drift(outcome: Any) -> Any:
    """Return the task that asks for a replan at once, by the asset, where changes have made a plan drift."""

    @step(outlets=[DRIFT])
    def ask_for_replan(outcome: dict[str, Any], outlet_events: Any) -> None:
        from airflow.sdk.exceptions import AirflowSkipException

        if not outcome["replan_due"]:
            raise AirflowSkipException("the plan is within its tolerance")
        outlet_events[DRIFT].extra = {"stream": outcome["stream"]}

    return ask_for_replan(outcome)
