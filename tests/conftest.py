"""What every test may ask for, and the markers that follow from where a test is and what it asks for."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs.spark.session import archive_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A test process of pytest-xdist has a main module without a file, which pyspark takes for a run of its doctests.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

# Tests run many small jobs on young JVMs: compiling them well would take longer than running them.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", f"-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xmn192m{archive_options()}"
)
SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}

# What is imported and collected stays: looking through it for garbage would take a quarter of the time of collection.
gc.disable()

# Plans must not depend on whether somebody has calibrated this machine.
os.environ["HEDDLE_PRICES"] = os.devnull

TESTS = Path(__file__).parent
MARKED_PLACES = {
    "dags": "airflow",
    "whole/browser": "browser long",
    "whole/cluster": "spark slow",
    "whole/production": "slow",
    "whole/stores": "slow",
    "whole/stores/test_stores_on_spark.py": "long",
    "jobs/tracking": "slow",  # MLflow alone takes seconds to import, and to make a database
    "plugins": "slow",
    # Random catalogs, kills and long searches, in process: seconds each. `make quick` leaves them to `make test`.
    **dict.fromkeys(
        (
            "expectations/test_suites.py",  # Great Expectations takes seconds to import
            "expectations/test_user_suites.py",
            "fuzz",
            "heddle/test_plan.py",
            "heddle/test_rewrite.py",
            "heddle/test_sources.py",
            "jobs/engine/batch/test_levels.py",
            "jobs/engine/batch/test_long_streams.py",
            "jobs/engine/batch/test_many_batches.py",
            "jobs/engine/batch/test_names.py",
            "jobs/engine/batch/test_random_catalogs.py",
            "jobs/engine/events/test_odd_files.py",
            "jobs/engine/events/test_predicate_index.py",
            "jobs/engine/feed/test_late.py",
            "jobs/engine/feed/test_row_windows.py",
            "jobs/engine/finals/test_decimals.py",
            "jobs/engine/finals/test_trees.py",
            "jobs/engine/program/test_lanes.py",
            "jobs/engine/slices/test_groupings.py",
            "jobs/engine/slices/test_shards.py",
            "jobs/engine/warehouse/test_compaction.py",
            "jobs/engine/warehouse/test_ledger.py",
            "jobs/kernels/columns/test_safety.py",
            "jobs/kernels/in_memory/test_sliding.py",
            "jobs/kernels/techniques/test_conformance.py",
            "jobs/kernels/techniques/test_properties.py",
            "jobs/kernels/techniques/test_resume.py",
            "jobs/kernels/techniques/test_safety.py",
            "jobs/runs/test_calibrate.py",
            "jobs/runs/test_corrections.py",
            "jobs/runs/test_counts.py",
            "jobs/runs/test_kafka.py",
            "jobs/runs/test_tables.py",
            "jobs/sinks",
            "jobs/spark/test_unshared.py",
            "optimizer/catalog/test_bulk.py",
            "optimizer/catalog/test_hostile.py",
            "optimizer/catalog/test_round_trip.py",
            "optimizer/planning/test_incremental.py",
            "optimizer/planning/test_stream.py",
            "optimizer/strategies/test_cascade.py",
            "optimizer/strategies/test_conformance.py",
            "optimizer/strategies/test_weave_share.py",
            "optimizer/windows/test_counters.py",
            "oracle",
            "simulation",
            "test_benchmarks.py",  # one of them imports Great Expectations
            "test_evidence.py",
            "whole/docker",
            "whole/faults",
            "whole/peers",
            "whole/wheel",
        ),
        "slow",
    ),
}
# Files that share a costly fixture of the session are run by one test process, or every process would make its own.
TOGETHER = {
    "plugins/": "a platform that has run for a while",
    "jobs/tracking/": "an empty tracking database",
    "whole/faults/test_kills_on_spark.py": "a world evaluated on Spark",
    "whole/faults/test_damage_on_spark.py": "a world evaluated on Spark",
}
# A test process takes whole files. The long ones come first, or one process would still be busy when the other is done.
LONG_FILES = (
    "whole/browser/test_browser.py",
    "dags/test_runs.py",
    "plugins/test_app.py",
    "whole/faults/test_plan_changes_on_spark.py",
    "whole/against_spark/test_against_spark.py",
    "jobs/spark/test_unshared.py",
    "whole/faults/test_kills_on_spark.py",
    "jobs/engine/slices/test_groupings.py",
    "jobs/runs/test_kafka.py",
    "whole/against_spark/test_names.py",
    "jobs/spark/test_both_lanes.py",
    "jobs/runs/test_corrections.py",
    "optimizer/rewrite/test_answers.py",
    "jobs/runs/test_continuous.py",
)
TEST = re.compile(r"^def test_\w+\(([^)]*)\)", re.MULTILINE)
SPARK = "spark: SparkSession"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark for the whole test run."""
    from jobs.spark.session import spark_session

    session = spark_session("local[2]", SMALL)
    yield session
    session.stop()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip a folder or file whose marker `-m` leaves out: importing Airflow and a browser's driver takes seconds."""
    markers = MARKED_PLACES.get(_place(collection_path), "").split()
    if collection_path.name.startswith("test_") and collection_path.suffix == ".py":
        tests = TEST.findall(collection_path.read_text(encoding="utf-8"))
        markers += ["spark"] if tests and all(SPARK in arguments for arguments in tests) else []
    return True if any(f"not {marker}" in config.option.markexpr for marker in markers) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests by their fixtures and folders, and put the long files first."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        for place, markers in MARKED_PLACES.items():
            if TESTS / place in (item.path, *item.path.parents):
                for marker in markers.split():
                    item.add_marker(marker)
    items.sort(key=lambda item: _rank(_place(item.path)))


def pytest_collection_finish() -> None:
    """Look for garbage from now on."""
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give whole files to the process that is free; those of TOGETHER, and of Spark while there are others, to one."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return next((name for place, name in TOGETHER.items() if file.startswith(f"tests/{place}")), file)

        def _assign_work_unit(self, node: Any) -> None:
            # a Spark that has run some tests needs half the CPU for the next ones: others start one at the end only
            sparks = [each for each, work in self.assigned_work.items() if any(map(_asks_for_spark, work))]
            wanted = node in sparks or not sparks
            first = next((scope for scope in self.workqueue if _asks_for_spark(scope) == wanted), None)
            if first is not None:
                self.workqueue.move_to_end(first, last=False)
            super()._assign_work_unit(node)

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


@cache
def _asks_for_spark(scope: str) -> bool:
    """Tell whether tests of a file, or of the files that go together, ask for the Spark of their process."""
    files = [place for place, name in TOGETHER.items() if name == scope] or [scope.removeprefix("tests/")]
    texts = [(TESTS / file).read_text(encoding="utf-8") for file in files if file.endswith(".py")]
    return any(SPARK in text for text in texts)


def _place(path: Path) -> str:
    """Return the path below tests/, or the whole path of what is elsewhere."""
    return path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.as_posix()


def _rank(place: str) -> int:
    return LONG_FILES.index(place) if place in LONG_FILES else len(LONG_FILES)
