"""The plugin that Airflow loads: a page in its navigation, and a tab on every run of a DAG."""

from __future__ import annotations

from typing import Any

from airflow.plugins_manager import AirflowPlugin

from plugins.heddle_operators import AuditLink, MlflowLink, PlanLink
from plugins.heddle_page.app import app

PREFIX = "/heddle"


VIEWS: list[Any] = [
    {
        "name": "Heddle",
        "href": "heddle/",
        "destination": "nav",
        "url_route": "heddle",
        "nav_top_level": True,
        "icon": "heddle/static/icon.svg",
        "icon_dark_mode": "heddle/static/icon-dark.svg",
    },
    {
        "name": "Plan",
        "href": "heddle/run?dag_id={DAG_ID}&run_id={RUN_ID}",
        "destination": "dag_run",
        "url_route": "heddle-plan",
    },
]


class HeddlePlugin(AirflowPlugin):
    """Addresses are relative: Airflow may live below a path of its own."""

    name = "heddle"
    fastapi_apps = [{"app": app, "url_prefix": PREFIX, "name": "Heddle"}]  # noqa: RUF012 (Airflow's way to say it)
    external_views = VIEWS
    operator_extra_links = [PlanLink(), AuditLink(), MlflowLink()]  # noqa: RUF012 (Airflow's way to say it)
