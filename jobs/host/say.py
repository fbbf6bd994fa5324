"""What a run says: to its user how far it is, and to whoever HEDDLE_ALERTS names what went wrong.

HEDDLE_ALERTS is a list of targets with spaces between them: `log` (a line of alerts.log in the platform's home, the
default), `file:PATH`, `https://...` (a webhook, which is sent {"text": line}) and `mailto:ADDRESS`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from jobs.host.settings import settings
from optimizer.errors import HeddleError

Say = Callable[[str], None]


def say_to_stderr(line: str) -> None:
    """Write a line of progress where it does not mix with a report on stdout."""
    sys.stderr.write(line + "\n")


def silent(line: str) -> None:
    """Say nothing."""


VARIABLE = "HEDDLE_ALERTS"
LOG, FILE, WEBHOOKS, MAIL = "log", "file:", ("https://", "http://"), "mailto:"
PATIENCE = 10  # seconds for a webhook
Send = Callable[[str, str], None]  # a target, a line


def alert_targets(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the targets of an environment; refuse, in one line, what is none.

    >>> alert_targets({}), alert_targets({"HEDDLE_ALERTS": "log mailto:ops@example.org"})
    (['log'], ['log', 'mailto:ops@example.org'])
    """
    targets = environment.get(VARIABLE, "").split() or [LOG]
    for target in targets:
        if target != LOG and not target.startswith((FILE, MAIL, *WEBHOOKS)):
            raise HeddleError(
                f"{VARIABLE}: {target!r} is no target; write log, file:PATH, https://... or mailto:ADDRESS"
            )
    return targets


def send_alert(line: str, send_mail: Send) -> list[str]:
    """Send a line to every target; return a line for each that could not be reached, and go on to the others."""
    failures = []
    try:
        targets = alert_targets()
    except HeddleError as error:
        failures, targets = [str(error)], [LOG]
    for target in targets:
        try:
            (send_mail if target.startswith(MAIL) else _post if target.startswith(WEBHOOKS) else _append)(target, line)
        except Exception as error:  # a target that is away must not hide the alert from the others
            failures.append(f"{target.partition('?')[0]}: the alert was not sent: {' '.join(str(error).split())[:200]}")
    return failures


def _append(target: str, line: str) -> None:
    path = settings().below("alerts.log") if target == LOG else Path(target.removeprefix(FILE))
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now().astimezone().isoformat(timespec='seconds')} {line}\n")


def _post(target: str, line: str) -> None:
    from urllib.error import URLError  # only here: every process imports this module
    from urllib.request import Request, urlopen

    body = json.dumps({"text": line}).encode()
    try:
        with urlopen(Request(target, body, {"Content-Type": "application/json"}), timeout=PATIENCE):
            return
    except URLError as error:
        raise HeddleError(str(error.reason)) from None
