"""The audit of a real warehouse: late events, ties and nulls pass; one changed answer does not."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import great_expectations.expectations as gxe
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from expectations.suites import SUITES
from jobs.engine.warehouse.ledger import newest_ledger, release, require_audit
from jobs.engine.warehouse.manifest import newest
from jobs.engine.warehouse.result_files import QUERY
from jobs.results import late_table, results_table
from optimizer.errors import HeddleError
from tests.worlds.audited import STREAM, AuditedWorld, make_world
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import add_batch, query, write_stream


@pytest.fixture
def world(tmp_path: Path) -> AuditedWorld:
    """Three batches, the later ones with events that came after their windows."""
    world = make_world(tmp_path)
    require_audit(world.storage)
    for number in range(3):
        world.arrive(number, seed=number)
    world.evaluate(files_per_batch=1)
    return world


def tamper(world: AuditedWorld) -> None:
    """Add one to a sum of the newest result files."""
    for file in reversed(newest(world.storage).results):
        path = world.storage.path(file.name)
        table = pq.read_table(path)
        rows = pc.index(pc.starts_with(table[QUERY].cast(pa.string()), "total@"), True).as_py()
        values = table["value int64"].to_pylist() if "value int64" in table.column_names else []
        if rows >= 0 and values[rows] is not None:
            values[rows] += 1
            column = table.schema.get_field_index("value int64")
            pq.write_table(table.set_column(column, "value int64", pa.array(values, pa.int64())), path)
            return
    raise AssertionError("no sum to change")


def seen(world: AuditedWorld) -> int:
    return int(results_table(world.warehouse, world.catalog, "total").num_rows)


def test_every_window_is_as_spark_has_it_then_a_changed_sum_is_not(spark: SparkSession, world: AuditedWorld) -> None:
    assert late_table(world.warehouse, STREAM).num_rows
    world.arrive(9, seed=9)  # not evaluated yet: it must not disturb the audit
    outcome = check(spark, world.catalog, STREAM, world.warehouse, Choice(everything=True))
    assert outcome.audit.passed, [each for each in outcome.audit.checks if not each.passed]
    assert outcome.published == [1, 2]
    published = seen(world)
    assert published > 0

    world.evaluate()
    tamper(world)
    outcome = check(spark, world.catalog, STREAM, world.warehouse, Choice(sample=50))
    failed = [each for each in outcome.audit.checks if not each.passed]
    assert [each.name for each in failed] == ["exact answers equal"]
    (example,) = failed[0].examples
    assert example["query"] == "total"
    assert int(example["ours"]) == int(example["spark"]) + 1
    assert (outcome.published, outcome.quarantined) == ([], [3])
    assert example["window"] in Path(outcome.page).read_text()
    record = json.loads(Path(outcome.page).with_name("audit.json").read_text())
    assert not record["passed"]
    assert record["rows"] == outcome.audit.rows
    assert seen(world) == published
    release(world.storage, 3)
    assert seen(world) > published


@pytest.mark.parametrize("name", list(SUITES))
def test_an_audit_that_comes_to_no_verdict_publishes_nothing_and_the_next_one_decides(
    spark: SparkSession, world: AuditedWorld, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Great Expectations fails while it looks at a column that is not there."""
    broken = gxe.ExpectColumnValuesToNotBeNull(column="nowhere")
    suite = SUITES[name]
    before = newest_ledger(world.storage)
    with monkeypatch.context() as patch:
        patch.setitem(SUITES, name, replace(suite, expectations={**suite.expectations, "broken": broken}))
        with pytest.raises(HeddleError, match=f"^Great Expectations failed at {name}.*; nothing is published") as error:
            check(spark, world.catalog, STREAM, world.warehouse, Choice(everything=True))
    assert len(str(error.value).splitlines()) == 1
    assert newest_ledger(world.storage) == before
    assert seen(world) == 0
    assert check(spark, world.catalog, STREAM, world.warehouse, Choice(everything=True)).published == [1, 2]
    assert seen(world) > 0


SHAPES = ("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope")
SHAPES += ("regr_sxx", "regr_sxy", "regr_syy")
ALONE = ("avg", "kurtosis", "skewness", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp")


def test_what_rounding_leaves_of_nothing_fails_no_audit(spark: SparkSession, tmp_path: Path) -> None:
    """A line through the origin, a mean of zero, numbers that have nothing to do with each other: of few small ones,
    many answers are zero, and what is left of their digits depends on the order in which they are added."""
    pick, selects = random.Random(7), [f"{name}(x, y)" for name in SHAPES] + [f"{name}(x)" for name in ALONE]
    queries = [query(f"q{place}", select, 60 * SECOND, group_by=["k"]) for place, select in enumerate(selects)]
    world = AuditedWorld(tmp_path, write_stream(tmp_path, STREAM, queries, "1 second"))
    require_audit(world.storage)
    numbers = (0.0, 0.1, 0.2, 0.3, -0.1, 1.0, 3.0)
    rows = [(pick.randrange(300), pick.choice(numbers), pick.choice(numbers)) for _ in range(2000)]
    columns = {name: pa.array(values) for name, values in zip("kxy", zip(*rows, strict=True), strict=True)}
    times = pa.array([place * 40_000 for place in range(len(rows))]).cast(pa.timestamp("us", "UTC"))
    add_batch(tmp_path, 0, pa.table({"ts": times, **columns}))
    end = {"ts": pa.array([900 * SECOND]).cast(pa.timestamp("us", "UTC")), "k": [0], "x": [0.0], "y": [0.0]}
    add_batch(tmp_path, 1, pa.table(end))
    world.evaluate()
    outcome = check(spark, world.catalog, STREAM, world.warehouse, Choice(everything=True))
    assert outcome.audit.rows > 300 * len(selects)
    assert outcome.audit.passed, [each.to_dict() for each in outcome.audit.checks if not each.passed]
