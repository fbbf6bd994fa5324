"""Airflow's own web application with the plugin in it, asked as several users; run in a process of its own.

Airflow reads its settings when it is imported, so that one process can hold one Airflow. Reads questions as JSON lines
of [who, method, address] and answers each with [status, headers, the beginning of the body].
"""

from __future__ import annotations

import json
import sys

from airflow.api_fastapi.app import create_app, get_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.utils.db import initdb
from fastapi.testclient import TestClient

ROLES = {"viewer": "VIEWER", "admin": "ADMIN", "roleless": None}
SHOWN = 200_000


def main() -> None:
    initdb()
    client = TestClient(create_app("core"), base_url="http://localhost")
    for line in sys.stdin:
        who, method, address = json.loads(line)
        answer = client.request(method, address, headers=credentials(who))
        body = answer.text[:SHOWN]
        sys.stdout.write(json.dumps([answer.status_code, dict(answer.headers), body]) + "\n")


def credentials(who: str) -> dict[str, str]:
    """Nobody shows none; a forger shows one that Airflow has not signed."""
    if who == "nobody":
        return {}
    if who == "forger":
        return {"Authorization": "Bearer eyJhbGciOiJIUzUxMiJ9.e30.AAAA"}
    user = SimpleAuthManagerUser(username=who, role=ROLES[who.removesuffix(" by cookie")])
    token = get_auth_manager().generate_jwt(user)
    return {"Cookie": f"_token={token}"} if who.endswith("by cookie") else {"Authorization": f"Bearer {token}"}


if __name__ == "__main__":
    main()
