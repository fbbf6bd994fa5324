"""Asks the page with any parameters: no traceback, no script of others, no file outside the platform."""

from __future__ import annotations

import os
import sys
import tempfile
import zoneinfo
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_from_bytes

FOLDER = Path(tempfile.mkdtemp(prefix="heddle_hostile_"))
os.environ |= {"HEDDLE_HOME": str(FOLDER / "platform"), "AIRFLOW_HOME": str(FOLDER / "airflow")}

from fastapi.testclient import TestClient  # noqa: E402 (Airflow reads its settings when it is imported)

from plugins.heddle_page import app as page  # noqa: E402
from tests.worlds.busy_platform import make_busy_platform  # noqa: E402
from tests.worlds.warehouse import STREAM  # noqa: E402

MARK = "<heddle&\"'>"
ADDRESSES = (
    "/?stream={}",
    "/?stream=events&version={}",
    "/status?stream={}",
    "/query?stream=events&id={}",
    "/query?stream={}&id=total",
    "/run?dag_id=heddle_replan&run_id={}",
    "/run?dag_id={}&run_id=manual__1",
    "/audit/{}/0",
    "/audit/events/{}",
    "/static/{}",
    "/{}",
)
CODES = {200, 307, 404, 405, 422}
WATCHED: list[str] = []
ROOTS: list[str] = []


def _start() -> TestClient:
    """Return a client of a platform that has run for a while, which may read everything."""
    (FOLDER / "platform").mkdir()
    make_busy_platform(FOLDER / "platform")
    for guard in page.app.router.dependencies:
        page.app.dependency_overrides[guard.dependency] = lambda: None
    page.running_dags = list  # which asks Airflow's database
    client = TestClient(page.app, follow_redirects=False)
    for address in ADDRESSES:  # what is imported, is imported now
        client.get(address.format("events"))
        client.get(address.format("total"))
    places = [FOLDER, Path(__file__).parents[2], sys.prefix, sys.base_prefix, tempfile.gettempdir(), *zoneinfo.TZPATH]
    ROOTS.extend([*(str(Path(place).resolve()) for place in places), "/dev", "/proc"])
    sys.addaudithook(_watch)
    return client


def _watch(event: str, values: tuple[object, ...]) -> None:
    if event == "open" and isinstance(values[0], str | bytes):
        path = os.path.realpath(os.fsdecode(values[0]))
        if not path.startswith(tuple(ROOTS)):
            WATCHED.append(path)


CLIENT = _start()


def seeds() -> Iterator[bytes]:
    """Yield parameters to begin with, each with the number of an address before it."""
    texts = (
        STREAM,
        "total",
        "1",
        "-1",
        "../../etc/passwd",
        "%00",
        "9" * 30,
        MARK,
        "a'; DROP TABLE runs --",
        "\x00é",
        "",
    )
    for number in range(len(ADDRESSES)):
        yield from (bytes([number]) + text.encode() for text in texts)


def words() -> Iterator[str]:
    """Yield words of addresses."""
    yield from (
        STREAM,
        "total",
        "heddle_replan",
        "manual__1",
        "..",
        "/",
        "%2f",
        "%2e",
        "stream=",
        "&id=",
        MARK,
        "' or 1=1 --",
    )


def take(data: bytes) -> None:
    """Ask for an address; a traceback on the way is one here."""
    number, text = (data[0] if data else 0) % len(ADDRESSES), data[1:]
    is_plain = bool(text) and text[0] % 4 == 0  # as it stands, without what a browser does to it
    value = quote(text.decode("utf-8", "replace"), safe="/&=%?.") if is_plain else quote_from_bytes(text, safe="")
    answer = CLIENT.get(ADDRESSES[number].format(value))
    assert answer.status_code in CODES, answer.status_code
    if "text/html" in answer.headers.get("content-type", ""):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert MARK not in answer.text
        marked = text.decode("utf-8", "replace")
        if "<" in marked and len(marked) > 6:
            assert marked not in answer.text, "shown as it was written"
    assert not WATCHED, WATCHED
