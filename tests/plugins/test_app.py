"""The page inside Airflow: nobody reads it without a token, whoever may read DAGs reads all of it, nobody writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.worlds.busy_platform import HOSTILE, BusyPlatform
from tests.worlds.warehouse import STREAM

pytestmark = pytest.mark.airflow
ROOT = Path(__file__).parents[2]
AUDIT = f"/heddle/audit/{STREAM}"
ADDRESSES = [
    "/heddle/",
    f"/heddle/?stream={STREAM}",
    f"/heddle/status?stream={STREAM}",
    f"/heddle/query?stream={STREAM}&id=total",
    "/heddle/metrics",
    "/heddle/run?dag_id=heddle_replan&run_id=x",
    f"{AUDIT}/0",
    "/heddle/static/page.css",
]
UNKNOWN = [
    "/heddle/?stream=nothing",
    f"/heddle/?stream={STREAM}&version=99",
    f"/heddle/query?stream={STREAM}&id=nothing",
    "/heddle/?version=x",
    "/heddle/query",
    f"{AUDIT}/x",
    f"{AUDIT}/99",
    "/heddle/audit/..%2f..%2fetc/0",
    "/heddle/static/..%2fapp.py",
    "/heddle/static/nothing.css",
    "/heddle/docs",
    "/heddle/openapi.json",
]
STRANGERS = ["nobody", "forger", "roleless"]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


Question = tuple[str, str, str]


@pytest.fixture(scope="module")
def answers(platform: BusyPlatform, tmp_path_factory: pytest.TempPathFactory) -> dict[Question, Answer]:
    """Every question put to one Airflow."""
    questions = [(who, "GET", address) for who in STRANGERS for address in ADDRESSES + UNKNOWN]
    questions += [(who, "GET", address) for who in ("viewer", "viewer by cookie") for address in ADDRESSES]
    questions += [("admin", "GET", address) for address in UNKNOWN]
    questions += [("admin", method, "/heddle/") for method in ("POST", "PUT", "PATCH", "DELETE")]
    questions += [("viewer", "GET", f"{AUDIT}/{number}") for number in range(8)]
    questions += [("viewer", "GET", "/api/v2/plugins"), ("viewer", "GET", "/heddle/static/page.js")]
    asked = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [sys.executable, "-m", "tests.plugins.airflow_client"], input=asked, text=True, capture_output=True, cwd=ROOT,
        env=_environment(platform, tmp_path_factory.mktemp("airflow")),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    said = [Answer(*json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]
    return dict(zip(questions, said, strict=True))


def _environment(platform: BusyPlatform, home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HEDDLE_HOME": platform.settings.home,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of tests, long enough for its algorithm, which wants 64 bytes of it",
    }


@pytest.mark.parametrize("address", ADDRESSES + UNKNOWN)
def test_without_a_token_every_address_says_401(answers: dict[Question, Answer], address: str) -> None:
    assert answers["nobody", "GET", address].status in (401, 404)
    assert answers["nobody", "GET", address].status == 401 or address in UNKNOWN
    assert STREAM not in answers["nobody", "GET", address].body


@pytest.mark.parametrize("who", ["forger", "roleless"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_a_token_that_grants_nothing_says_403(answers: dict[Question, Answer], who: str, address: str) -> None:
    assert answers[who, "GET", address].status == 403


@pytest.mark.parametrize("who", ["viewer", "viewer by cookie"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_who_may_read_dags_may_read_the_page(answers: dict[Question, Answer], who: str, address: str) -> None:
    assert answers[who, "GET", address].status == 200


@pytest.mark.parametrize("address", UNKNOWN)
def test_what_is_not_there_is_not_found(answers: dict[Question, Answer], address: str) -> None:
    assert answers["admin", "GET", address].status == 404


def test_a_wrong_stream_is_a_page_that_says_so(answers: dict[Question, Answer]) -> None:
    said = answers["admin", "GET", "/heddle/?stream=nothing"]
    assert said.headers["content-type"].startswith("text/html")
    assert "there is no stream &#39;nothing&#39;" in said.body
    assert "has no version 99" in answers["admin", "GET", f"/heddle/?stream={STREAM}&version=99"].body


@pytest.mark.parametrize(
    ("address", "line", "style"),
    [
        ("/heddle/?version=x", "version &#39;x&#39; is no number", '"./static/page.css"'),
        ("/heddle/query", "stream is missing", '"./static/page.css"'),
        (f"{AUDIT}/x", "sequence &#39;x&#39; is no number", '"../../static/page.css"'),
        (f"{AUDIT}/99", f"stream {STREAM} has no audit 99", '"../../static/page.css"'),
    ],
)
def test_a_wrong_address_is_a_page_that_says_so(
    answers: dict[Question, Answer], address: str, line: str, style: str
) -> None:
    said = answers["admin", "GET", address]
    assert said.headers["content-type"].startswith("text/html")
    assert line in said.body
    assert style in said.body


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_can_be_written(answers: dict[Question, Answer], method: str) -> None:
    assert answers["admin", method, "/heddle/"].status == 405


@pytest.mark.parametrize(
    "address", ["/heddle/", "/heddle/run?dag_id=heddle_replan&run_id=x", "/heddle/static/page.css"]
)
def test_every_answer_carries_the_policy(answers: dict[Question, Answer], address: str) -> None:
    headers = answers["viewer", "GET", address].headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"


def test_the_page_of_an_audit_is_reached_and_escaped(answers: dict[Question, Answer]) -> None:
    found = [answers["viewer", "GET", f"{AUDIT}/{number}"] for number in range(8)]
    pages = [answer for answer in found if answer.status == 200]
    assert len(pages) == 3
    assert any("failed" in page.body for page in pages)
    assert all(HOSTILE not in page.body for page in pages)
    assert all("script-src" not in page.headers["content-security-policy"] for page in pages)


def test_airflow_lists_the_page_and_the_tab(answers: dict[Question, Answer]) -> None:
    plugins = json.loads(answers["viewer", "GET", "/api/v2/plugins"].body)["plugins"]
    ours = next(plugin for plugin in plugins if plugin["name"] == "heddle")
    assert {view["destination"] for view in ours["external_views"]} == {"nav", "dag_run"}
    assert not any(view["href"].startswith("/") for view in ours["external_views"])
