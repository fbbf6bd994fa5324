"""The production shape without containers: Airflow on Postgres, a Spark cluster, an MLflow server; one micro-batch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import settings
from jobs.tracking.past import run_rows
from jobs.tracking.registry import champion
from jobs.tracking.store import open_store
from tests.whole.browser.interface import CATALOG
from tests.whole.production.api import Api
from tests.whole.production.shape import Shape, production

STREAM = "sensors"
EVENTS = 20_000


def test_a_micro_batch_through_every_service(tmp_path: Path) -> None:
    fill(tmp_path / "data")
    with production(tmp_path) as shape:
        api = Api.sign_in(shape.url("api-server", 8080), "admin", shape.secrets["HEDDLE_ADMIN_PASSWORD"])
        assert Api(api.address).status("/heddle/") == 401
        assert api.run_once("heddle_evaluate") == "success", shape.log("scheduler")
        assert_evaluated(shape)
        assert "in force" in api.text("GET", f"/heddle/?stream={STREAM}")


def fill(home: Path) -> None:
    """A catalog and its events, as they would be on the shared volume."""
    (home / "catalog").mkdir(parents=True)
    (home / "catalog" / "sensors.yaml").write_text(CATALOG)
    events = ["sensors", "--events", str(EVENTS), "--rate", "100", "--out", str(home / STREAM)]
    subprocess.run([sys.executable, "-m", "heddle", "generate", *events], check=True, capture_output=True)


def assert_evaluated(shape: Shape) -> None:
    """All events were taken on the cluster, what was emitted is published, and the server remembers the run."""
    home = {"HEDDLE_HOME": str(shape.folder / "data"), "HEDDLE_TRACKING": shape.url("mlflow", 5000)}
    place = settings(home)
    storage = stream_storage(place.warehouse, STREAM)
    manifest, ledger = newest(storage), newest_ledger(storage)
    assert manifest.results
    assert ledger.in_use
    assert ledger.pending(manifest.results) == ()
    assert ledger.quarantined == ()
    store = open_store(place)
    now = champion(store, STREAM)
    assert now
    assert now.queries == 3
    assert [row["metrics"]["events"] for row in run_rows(store, STREAM, "evaluation")] == [EVENTS]
    with urlopen(f"{shape.url('spark-master', 8080)}/json/", timeout=10) as answer:
        cluster = json.load(answer)
    assert cluster["aliveworkers"] == 2
    assert len(cluster["completedapps"]) >= 2  # the evaluation and its audit
