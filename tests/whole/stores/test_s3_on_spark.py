"""Spark on events and a warehouse in a bucket: both lanes, its checkpoint and the audit; the rows of a local disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jobs.host.connectors import install_connector
from optimizer.errors import HeddleError
from tests.worlds import readings
from tests.worlds.bucket import arrive, bucket_server, make_bucket_world, place_of
from tests.worlds.readings import published

LANES = ("auto", "frame")


def test_rows_and_audit(tmp_path: Path) -> None:
    """In a process of its own: the session of the tests has no jars of S3's."""
    try:
        install_connector("s3", lambda line: None)
    except HeddleError as error:
        pytest.skip(f"Maven Central is not reached, and the jars of S3 are not here: {error}")
    local = readings.make_world(tmp_path / "local")
    local.arrive(*range(3))
    with bucket_server():
        world = make_bucket_world(tmp_path / "there", "spark")
        arrive("spark", *range(3))
        places = [local.warehouse("reference"), *(place_of("spark", lane) for lane in LANES)]
        catalogs = [str(each.folder) for each in (local, world, world)]
        command = [sys.executable, "-m", "tests.whole.stores.spark_runs", *catalogs, *places]
        subprocess.run(command, check=True, capture_output=True)
        expected = published(local, places[0])
        for place in places[1:]:
            rows = published(world, place)
            assert all(rows[name].equals(table) and table.num_rows for name, table in expected.items()), place
