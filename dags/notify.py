"""The notifier of all DAGs: what failed, is late or raises an alert, in a line to the log and every target of
HEDDLE_ALERTS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from html import escape
from textwrap import shorten
from typing import Any

from airflow.sdk import BaseNotifier

LOG = logging.getLogger("heddle")


class HeddleNotifier(BaseNotifier):
    """Tells people: as the callback of a task that failed, or of a deadline that a run has missed."""

    template_fields = ("message",)

    def __init__(self, message: str = "", context: Any = None) -> None:
        self.message = message
        super().__init__(context=context)

    def notify(self, context: Any) -> None:
        """Send one line to every target."""
        tell_people(alert_line(context, self.message), logging.ERROR)

    async def async_notify(self, context: Any) -> None:
        """Send it from the triggerer, where deadlines are looked after."""
        await asyncio.to_thread(self.notify, context)


def tell_alerts(lines: Iterable[str]) -> None:
    """Tell people of rows that passed the condition of their query."""
    for line in lines:
        tell_people(f"alert: {line}", logging.WARNING)


def tell_people(line: str, severity: int) -> None:
    """Write a line to the log and send it to every target; one that cannot be reached is named in the log."""
    from jobs.host.say import send_alert

    LOG.log(severity, line)
    for failure in send_alert(line, send_mail):
        LOG.error(failure)


def alert_line(context: Mapping[str, Any], message: str = "") -> str:
    """Say what failed, where and why; or, of a run as a whole, the message."""
    if message or "ti" not in context:
        run = context.get("dag_run") or {}  # of a deadline: what the API says of the run
        return f"{run.get('dag_id', 'heddle')}: {run.get('dag_run_id', 'a run')} {message or 'has missed its deadline'}"
    ti = context["ti"]
    place = f"{ti.dag_id}.{ti.task_id}" + (f"[{ti.map_index}]" if ti.map_index >= 0 else "")
    reason = " ".join(str(context.get("exception") or "it was ended from outside").split())[:500]
    return f"{place} failed in {context['run_id']}: {reason}"


def send_mail(target: str, line: str) -> None:
    """Send a line by Airflow's own mail, on the connection smtp_default."""
    from airflow.providers.smtp.notifications.smtp import SmtpNotifier

    from jobs.host.say import MAIL

    subject = f"Heddle: {shorten(line, 100, placeholder=' ...')}"
    SmtpNotifier(to=target.removeprefix(MAIL), subject=subject, html_content=escape(line)).notify({})
