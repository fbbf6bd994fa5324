"""The same on Spark, in both lanes; the driver is killed just when a plan has taken over, a worker while it does."""

from __future__ import annotations

import random
import signal
from pathlib import Path

from pyspark.sql import SparkSession

from expectations.check import Choice, check
from optimizer.catalog.read.load import load_catalog
from tests.whole.faults.plan_runs import Changing
from tests.whole.faults.test_plan_changes import LATENESS, changed, full_batch, question, some_batch
from tests.worlds.warehouse import STREAM


def test_random_plans_in_both_lanes(spark: SparkSession, tmp_path: Path) -> None:
    pick = random.Random(3)
    world = Changing(tmp_path)
    asked = changed(pick, changed(pick, {}))
    for lane in ("file", "frame", "auto"):
        world.arrive(*(some_batch(pick, len(world.batches) + n) for n in range(2)))
        world.run(asked, LATENESS, "shared", spark, lane)
        asked = changed(pick, asked)
    report = world.run(asked, 0, "tri_weave", spark)  # no event is new, but windows end earlier now
    assert "takes over" in report.notes[0]
    world.check()


def test_a_tree_is_rebuilt_beside_one_that_carries_on(spark: SparkSession, tmp_path: Path) -> None:
    """The events are read again for the new tree only; the other one has an expression that nobody looks at then."""
    world = Changing(tmp_path)
    world.arrive(*map(full_batch, range(2)))
    first = {"q": question("sum", "n + i", 20, 2)}
    world.run(first, LATENESS, "no_share", spark, "frame")
    world.arrive(full_batch(2))
    report = world.run({**first, "r": question("max", "s", 40, 20)}, LATENESS, "no_share", spark, "frame")
    assert any("1 tree carries on, 1 is rebuilt" in note for note in report.notes)
    world.check()


def test_killed_while_a_plan_takes_over(spark: SparkSession, tmp_path: Path) -> None:
    world = Changing(tmp_path)
    world.arrive(*map(full_batch, range(2)))
    first = {"q": question("sum", "n", 20, 2)}
    world.run(first, LATENESS, "shared", spark)
    world.arrive(full_batch(2))
    second = {**first, "fine": question("sum", "n", 9, 3), "r": question("max", "s", 40, 20)}
    kills = {"adopted": "", "taken over": "driver"}
    assert world.run_killed_on_spark(second, LATENESS, "no_share", kills) == -signal.SIGKILL
    world.run(second, LATENESS, "no_share", spark)
    world.check()
    outcome = check(spark, load_catalog(tmp_path / "catalog"), STREAM, world.warehouse, Choice(everything=True))
    assert outcome.audit.passed, [each.examples for each in outcome.audit.checks]
    assert outcome.audit.statements == 3
