"""Airflow's REST interface, in the few words that tests need."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

PATIENCE = 420  # seconds for a run: other tests may keep the machine busy


@dataclass(frozen=True)
class Api:
    """An Airflow, spoken to as one user."""

    address: str
    token: str = ""

    @classmethod
    def sign_in(cls, address: str, user: str, password: str) -> Api:
        """As this user from now on."""
        token = cls(address).ask("POST", "/auth/token", {"username": user, "password": password})["access_token"]
        return cls(address, token)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What it answers, as data."""
        found: dict[str, Any] = json.loads(self.text(method, path, body))
        return found

    def text(self, method: str, path: str, body: dict[str, Any] | None = None) -> str:
        """What it answers."""
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.address + path, data, headers, method=method), timeout=60) as answer:
            return str(answer.read().decode())

    def status(self, path: str) -> int:
        """The number of its answer."""
        try:
            self.text("GET", path)
        except HTTPError as error:
            return error.code
        return 200

    def run_once(self, dag: str) -> str:
        """Unpause a DAG, which begins no run by itself, trigger it, and wait for its end; the run's state."""
        self.wait_for_dag(dag)
        self.ask("PATCH", f"/api/v2/dags/{dag}", {"is_paused": False})
        run = self.ask("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None})
        return self.wait_for_run(dag, str(run["dag_run_id"]))

    def wait_for_run(self, dag: str, run: str) -> str:
        """Until a run has ended; its state."""
        return str(self._until(lambda: self._ended(dag, run), f"{dag} is still running"))

    def wait_for_question(self, dag: str) -> None:
        """Until a run of the DAG waits for a person."""
        path = f"/api/v2/dags/{dag}/dagRuns/~/hitlDetails"
        self._until(lambda: self.ask("GET", path)["total_entries"], f"{dag} asks nothing")

    def wait_for_dag(self, dag: str) -> None:
        """Until the dag-processor has read it."""
        self._until(lambda: self.status(f"/api/v2/dags/{dag}") == 200, f"{dag} was never read")

    def newest_run(self, dag: str, kind: str, last: str = "") -> str:
        """The id of the newest run of a kind, once there is one that is not the last that was known."""
        path = f"/api/v2/dags/{dag}/dagRuns?run_type={kind}&order_by=-run_after&limit=1"

        def look() -> str:
            runs = self.ask("GET", path)["dag_runs"]
            newest = str(runs[0]["dag_run_id"]) if runs else ""
            return newest if newest != last else ""

        return str(self._until(look, f"{dag} has no new {kind} run"))

    def _ended(self, dag: str, run: str) -> str:
        state = str(self.ask("GET", f"/api/v2/dags/{dag}/dagRuns/{quote(run)}")["state"])
        return state if state in ("success", "failed") else ""

    def _until(self, look: Callable[[], Any], otherwise: str) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = look()
            if found:
                return found
            time.sleep(0.5)
        raise AssertionError(otherwise)
