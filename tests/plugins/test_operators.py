"""The operators for DAGs of one's own: the example loads, replan and evaluate do their work, links lead there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from dags.common import submit
from heddle.processes import environment
from jobs.host.command_line import MISTAKE, TRY_AGAIN
from jobs.results import results_table
from optimizer.catalog.read.load import load_catalog
from plugins.heddle_operators import HeddleEvaluateOperator, HeddleReplanOperator
from plugins.heddle_provider import get_provider_info
from tests.worlds.platform import home, write_events

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.airflow]


def test_entry_points_and_links_are_there() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for group in ("airflow.plugins", "apache_airflow_provider"):
        for place in points[group].values():
            module, _, name = place.partition(":")
            assert hasattr(import_module(module), name)
    plugin = import_module("plugins.heddle_plugin").HeddlePlugin
    named = {link.rpartition(".")[2] for link in get_provider_info()["extra-links"]}
    assert named == {type(link).__name__ for link in plugin.operator_extra_links}


def test_airflow_can_ask_for_the_provider_while_it_is_imported() -> None:
    """Airflow loads the entry point from inside its own import: what imports Airflow there stops every command."""
    asked = "import sys, plugins.heddle_provider; sys.exit(any(name.startswith('airflow') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize(
    ("code", "kind"), [(MISTAKE, AirflowFailException), (TRY_AGAIN, AirflowException), (1, AirflowException)]
)
def test_a_submitted_job_that_ends_by_a_mistake_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[AirflowException]
) -> None:
    script = tmp_path / "spark-submit"
    script.write_text(f"#!/bin/sh\nexit {code}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    connection = {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    operator = submit("evaluate", "jobs/evaluate.py", {"name": "a", "evaluate": [], "env_vars": {}, "conf": {}})
    with pytest.raises(AirflowException) as raised:
        operator.execute({})
    assert type(raised.value) is kind


def test_exit_codes_tell_a_mistake_from_trouble_that_may_pass() -> None:
    imports = "from jobs.host.command_line import run_job; from optimizer import errors"
    command = imports + "\ndef job(): {}\nrun_job(job)"
    jobs = {"raise errors.HeddleError('x')": MISTAKE, "raise errors.UnreachableError('x')": TRY_AGAIN, "return None": 0}
    for body, code in jobs.items():
        assert subprocess.run([sys.executable, "-c", command.format(body)], cwd=ROOT, check=False).returncode == code


def test_the_example_loads_with_its_links() -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    dag = import_module("examples.airflow.own_dag").own_dag()
    assert [task.task_id for task in dag.topological_sort()] == ["load_events", "plan", "evaluate", "report"]
    assert DagSerialization.from_dict(DagSerialization.to_dict(dag)).task_ids
    links = {link.name for link in dag.get_task("evaluate").operator_extra_links}
    assert links == {"Plan", "Audit", "MLflow"}


@pytest.mark.spark
def test_a_stream_is_planned_and_evaluated_by_two_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = home(tmp_path)
    Path(place.home, "data").mkdir()
    write_events(place, 0)
    own = environment(Path(place.home))
    for name in ("HEDDLE_HOME", "PATH", "PYTHONPATH", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, own[name])
    monkeypatch.setenv("HEDDLE_MLFLOW_UI", "http://mlflow.example")
    monkeypatch.setenv(
        "AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "local[1]", "extra": {"deploy-mode": "client"}}'
    )
    context = {"run_id": "r"}
    with pytest.raises(AirflowFailException, match="no such stream"):
        HeddleReplanOperator(task_id="plan", stream="nothing").execute(context)
    assert HeddleReplanOperator(task_id="plan", stream="readings", rate=5000).execute(context)["promoted"]
    operator = HeddleEvaluateOperator(task_id="evaluate", stream="readings", sample=1)
    published = operator.execute(context)
    assert published["batches"] == [0]
    seen = results_table(place.warehouse, load_catalog(place.catalog), "peak").num_rows
    assert 0 < seen <= published["rows"]
    addresses = {link.name: link.get_link(operator, ti_key=None) for link in operator.operator_extra_links}
    assert addresses["Plan"].endswith("/heddle/?stream=readings")
    assert "/heddle/audit/readings/" in addresses["Audit"] or addresses["Audit"].endswith("index.html")
    assert addresses["MLflow"].startswith("http://mlflow.example/#/experiments/")
