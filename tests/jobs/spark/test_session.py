"""A session's settings: the submitter's choices count, and only a local master gets the small defaults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.host.cache import cache_folder
from jobs.host.spark_runtime import java_home
from jobs.spark.session import archive_file, archive_options, java_options, session_settings, spark_home
from optimizer.errors import HeddleError
from tests.conftest import TESTS

SMALL = ("spark.sql.shuffle.partitions", "spark.ui.enabled")
READ_BACK = r"""
import json, sys
from jobs.spark.session import spark_session
spark = spark_session()
sys.stdout.write(json.dumps({name: spark.conf.get(name) for name in sys.argv[1:]}) + "\n")
"""


@pytest.mark.parametrize("master", ["local", "local[*,4]", "local[2]"])
def test_a_local_master_gets_the_small_defaults(master: str) -> None:
    for settings in (session_settings({}, master, {}), session_settings({"spark.master": master}, None, {})):
        assert [settings[name] for name in SMALL] == ["2", "false"]


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://host:443", "local-cluster[2,1,1024]"])
def test_a_cluster_does_not(master: str) -> None:
    for settings in (session_settings({}, master, {}), session_settings({"spark.master": master}, None, {})):
        assert not set(SMALL) & settings.keys()
        assert settings["spark.sql.session.timeZone"] == "UTC"


def test_the_submitters_choice_counts_and_the_callers_before_it() -> None:
    submitted = {"spark.master": "local[2]", "spark.sql.shuffle.partitions": "7"}
    assert "spark.sql.shuffle.partitions" not in session_settings(submitted, None, {})
    assert session_settings(submitted, None, {"spark.sql.shuffle.partitions": "3"})[SMALL[0]] == "3"


def test_an_unknown_master_is_one_line() -> None:
    from jobs.spark.session import spark_session

    with pytest.raises(HeddleError, match="--master 'lokal' is none; use local"):
        spark_session("lokal")


def test_workers_find_the_engine_imported_unless_somebody_submits_it() -> None:
    module = "spark.python.daemon.module"
    assert session_settings({}, "local[2]", {})[module] == "jobs.spark.worker_daemon"
    assert module not in session_settings({}, "yarn", {})
    assert module not in session_settings({"spark.submit.pyFiles": "heddle.zip"}, "local[2]", {})
    assert module in session_settings({"spark.master": "local[2]", "spark.submit.pyFiles": ""}, None, {})


def test_a_session_of_tests_is_local(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    (loaded,) = spark.sparkContext.parallelize([0], 1).map(lambda _: {*sys.modules}).collect()
    assert {"numba", "jobs.spark.executor", "jobs.spark.unshared"} <= loaded  # though this task needs none of them


def test_java_maps_the_archive_of_classes(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = archive_file()
    if file.exists():  # `make test` makes it, unless this Java cannot
        java = Path("/proc", str(spark._jvm.java.lang.ProcessHandle.current().pid()))
        assert file.name in (java / "maps").read_text()
    monkeypatch.setenv("HEDDLE_CACHE", str(tmp_path / "a cache"))
    assert archive_options() == ""
    archive_file().parent.mkdir()
    archive_file().touch()
    assert f'"-XX:SharedArchiveFile={tmp_path}/a cache/java/spark-' in java_options()


@pytest.mark.spark
def test_what_spark_submit_is_given_reaches_the_session(tmp_path: Path) -> None:
    job = tmp_path / "read_back.py"
    job.write_text(READ_BACK)
    names = [*SMALL, "spark.sql.session.timeZone", "spark.python.worker.reuse"]
    chosen = ["--conf", "spark.sql.shuffle.partitions=7", "--conf", "spark.ui.showConsoleProgress=false"]
    places = {"JAVA_HOME": java_home(cache_folder()), "SPARK_HOME": spark_home(), "PYSPARK_PYTHON": sys.executable}
    environment = {**os.environ, **places, "PYTHONPATH": str(TESTS.parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [str(Path(spark_home(), "bin", "spark-submit")), "--master", "local[1]", *chosen, str(job), *names]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert list(json.loads(outcome.stdout.splitlines()[-1]).values()) == ["7", "false", "UTC", "true"]
