"""Spark on events and a warehouse on S3 and on HDFS: both lanes, checkpoint and audit; the rows of a local disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from jobs.host.connectors import install_connector
from optimizer.errors import HeddleError
from tests.worlds import readings
from tests.worlds.bucket import bucket_server
from tests.worlds.name_node import name_node
from tests.worlds.readings import published
from tests.worlds.store import Store

LANES = ("auto", "frame")
# each with the connectors that Spark needs to reach it
STORES: list[tuple[Callable[[], AbstractContextManager[Store]], str]] = [(bucket_server, "s3"), (name_node, "")]


@pytest.mark.parametrize(("open_store", "connector"), STORES, ids=["s3", "hdfs"])
def test_rows_and_audit(
    tmp_path: Path, open_store: Callable[[], AbstractContextManager[Store]], connector: str
) -> None:
    """In a process of its own: the session of the tests has no jars of S3's."""
    if connector:
        try:
            install_connector(connector, lambda line: None)
        except HeddleError as error:
            pytest.skip(f"Maven Central is not reached, and the jars of {connector} are not here: {error}")
    local = readings.make_world(tmp_path / "local")
    local.arrive(*range(3))
    with open_store() as store:
        world = store.make_world(tmp_path / "there", "spark")
        store.arrive("spark", *range(3))
        places = [local.warehouse("reference"), *(store.place("spark", lane) for lane in LANES)]
        catalogs = [str(each.folder) for each in (local, world, world)]
        command = [sys.executable, "-m", "tests.whole.stores.spark_runs", connector, *catalogs, *places]
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-4000:]
        expected = published(local, places[0])
        for place in places[1:]:
            rows = published(world, place)
            assert all(rows[name].equals(table) and table.num_rows for name, table in expected.items()), place
