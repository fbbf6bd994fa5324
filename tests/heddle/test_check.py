"""`heddle check` on the command line: decisions about batches, and mistakes as one line."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from expectations.sides.plain_spark import naive_recomputation
from heddle.main import app
from jobs.engine.warehouse.ledger import newest_ledger, settle
from jobs.engine.warehouse.manifest import newest
from jobs.host.say import silent
from optimizer.errors import HeddleError
from tests.worlds.audited import STREAM, AuditedWorld, make_world


@pytest.fixture
def world(tmp_path: Path) -> AuditedWorld:
    return make_world(tmp_path)


def run(world: AuditedWorld, *arguments: str, stream: str = STREAM) -> Result:
    fixed = ["check", str(world.folder / "catalog"), "--stream", stream, "--warehouse", world.warehouse]
    return CliRunner().invoke(app, [*fixed, *arguments])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--sample", "0"], "--sample is at least 1"),
        (["--require", "--release", "1"], "one at a time"),
        (["--release", "1"], "batch 1 is not quarantined or discarded; none is"),
    ],
)
def test_a_mistake_is_one_line(world: AuditedWorld, arguments: list[str], line: str) -> None:
    result = run(world, *arguments)
    assert isinstance(result.exception, HeddleError)
    assert line in str(result.exception)
    assert "\n" not in str(result.exception)


def test_an_unknown_stream_is_one_line(world: AuditedWorld) -> None:
    assert "has no such stream; it has events" in str(run(world, stream="other").exception)


def test_a_person_decides_about_a_quarantined_batch(world: AuditedWorld) -> None:
    assert "unpublished from now on" in run(world, "--require").output
    for number in (0, 1):
        world.arrive(number, number)
    world.evaluate()
    settle(world.storage, newest_ledger(world.storage), newest(world.storage), passed=False)
    assert "batch 0 will not be published" in run(world, "--discard", "0").output
    assert newest_ledger(world.storage).discarded
    released, last = run(world, "--release", "0").output.splitlines()
    assert released == "batch 0 is published"
    assert last.startswith("Next: heddle results ")
    ledger = newest_ledger(world.storage)
    assert ledger.published
    assert ledger.quarantined == ledger.discarded == ()


def test_raw_events_that_are_gone_are_one_line(world: AuditedWorld) -> None:
    world.arrive(0, 0)
    world.evaluate()
    (file,) = (world.folder / "data").iterdir()
    file.unlink()
    with pytest.raises(HeddleError, match=r"was evaluated and is gone, one of 1; an audit needs the raw events"):
        naive_recomputation(
            cast("SparkSession", None), world.catalog, STREAM, world.storage, newest(world.storage), silent
        )
