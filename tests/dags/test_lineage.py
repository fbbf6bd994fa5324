"""OpenLineage's own provider, installed beside the lock, writes events -> results with their columns to a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heddle.processes import start_airflow
from optimizer.catalog.read.load import load_catalog
from plugins.heddle_provider import columns_of_results, events_place
from tests.dags.conftest import SMALL
from tests.worlds.platform import home, write_events

PACKAGES = (  # what the provider needs that the lock has not
    *("apache-airflow-providers-openlineage==2.20.3", "openlineage-python==1.54.0", "httpx2==2.16.0"),
    *("openlineage-integration-common==1.54.0", "openlineage-sql==1.54.0", "httpcore2==2.16.0", "truststore==0.10.5"),
)
FILTERED = """
queries:
  - {id: hot, stream: readings, select: [max(x), count(*)], where: y > 3, group_by: [machine], range: 20 s, slide: 5 s}
"""


def test_a_column_is_made_of_what_its_expression_and_its_predicate_read(tmp_path: Path) -> None:
    place = home(tmp_path)
    Path(place.catalog, "hot.yaml").write_text(FILTERED)
    catalog = load_catalog(place.catalog)
    columns = dict(columns_of_results(catalog, "readings"))
    assert columns["mean"] == {"machine": ("machine",), "window": ("ts",), "avg(x)": ("x",)}
    assert columns["hot"]["max(x)"] == ("x", "y")
    assert columns["hot"]["count(1)"] == ("y",)
    assert events_place(catalog.streams["readings"]) == ("file", str(Path(place.home, "data")))


@pytest.mark.long
def test_the_provider_writes_where_the_results_come_from(tmp_path: Path) -> None:
    packages, said = tmp_path / "packages", tmp_path / "events.json"
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", str(packages)]
    subprocess.run([*install, *PACKAGES], check=True)
    place = home(tmp_path / "home")
    Path(place.home, "data").mkdir()
    write_events(place, 0)
    transport = {"type": "file", "log_file_path": str(said), "append": True}
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH", "")]))
    root = str(Path(__file__).resolve().parents[2])
    lineage = {"AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport), "PYTHONPATH": os.pathsep.join([root, path])}
    airflow = start_airflow(Path(place.home), {**SMALL, **lineage})
    try:
        for dag in ("heddle_replan", "heddle_evaluate"):
            assert airflow.run(dag, {}, lambda line: None)["state"] == "success", airflow.log.read_text()[-4000:]
    finally:
        airflow.close()
    job = "heddle_evaluate.micro_batch.publish"
    (event,) = [
        event for event in read_events(said) if event["job"]["name"] == job and event["eventType"] == "COMPLETE"
    ]
    assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [("file", str(Path(place.home, "data")))]
    (output,) = event["outputs"]
    assert (output["namespace"], output["name"]) == ("heddle", "results/readings")
    lineage_of = output["facets"]["columnLineage"]["fields"]
    assert [each["field"] for each in lineage_of["mean.avg(x)"]["inputFields"]] == ["x"]
    assert {field["name"] for field in output["facets"]["schema"]["fields"]} == set(lineage_of)


def read_events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
