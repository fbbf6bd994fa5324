"""Where MLflow's pages are: HEDDLE_MLFLOW_UI, an address that browsers reach, or the tracking server's own."""

from __future__ import annotations

import os
from urllib.parse import quote

SCHEMES = ("http://", "https://")


def mlflow_address() -> str:
    """Return MLflow's address without a slash at its end; "" when runs are in a file that nobody serves."""
    named = os.environ.get("HEDDLE_MLFLOW_UI") or os.environ.get("HEDDLE_TRACKING", "")
    return named.rstrip("/") if named.startswith(SCHEMES) else ""


def run_link(experiment: str, run: str) -> str:
    """Return the address of MLflow's page of a run; "" when nobody said where MLflow is."""
    address = mlflow_address()
    return f"{address}/#/experiments/{quote(experiment, '')}/runs/{quote(run, '')}" if address and run else ""
