"""Where MLflow's pages are: HEDDLE_MLFLOW_UI, an address that browsers reach, or the tracking server's own."""

from __future__ import annotations

import os
from urllib.parse import quote

SCHEMES = ("http://", "https://")


def mlflow_address() -> str:
    """Without a slash at its end; "" when runs are kept in a file and nobody said where they are shown."""
    named = os.environ.get("HEDDLE_MLFLOW_UI") or os.environ.get("HEDDLE_TRACKING", "")
    return named.rstrip("/") if named.startswith(SCHEMES) else ""


def run_link(experiment: str, run: str) -> str:
    """MLflow's page of a run."""
    address = mlflow_address()
    return f"{address}/#/experiments/{quote(experiment, '')}/runs/{quote(run, '')}" if address and run else ""
