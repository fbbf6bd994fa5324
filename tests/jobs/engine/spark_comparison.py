"""One random catalog on Spark: evaluated in a lane, then every statement asked of plain Spark in the same words."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from pyspark.sql import SparkSession

from jobs.results import read_results, results_table
from optimizer.algebra.techniques import CARDS
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.strategies import STRATEGIES
from tests.jobs.engine.row_questions import in_order
from tests.jobs.engine.runs import run_on_spark
from tests.jobs.engine.shard_plans import CHEAP, DEAR, Imagined
from tests.jobs.engine.statements import Stated, catalogs
from tests.worlds.streams import Arrival, arrivals
from tests.worlds.warehouse import STREAM, World, make_world

LANES = ("file", "frame")
SEARCHES = tuple(name for name in STRATEGIES if name != "exhaustive")  # which takes a dozen queries


@dataclass(frozen=True)
class Case:
    """What is asked of which events, and how it is planned."""

    stated: Mapping[str, Stated]
    arrival: Arrival
    strategy: str
    technique: str
    recent: Imagined | None
    files_per_batch: int  # 0: all at once

    def plan(self, world: World) -> Plan:
        """A plan of the catalog."""
        return plan_stream(world.catalog, STREAM, 10.0, self.strategy, self.technique, recent=self.recent)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any catalog, events and plan."""
    technique = draw(st.sampled_from(["auto", "auto", *CARDS]))
    recent = draw(st.sampled_from([None, Imagined(CHEAP), Imagined(DEAR)]))
    return Case(
        draw(catalogs(technique)),
        draw(arrivals(least=20, most=150)),
        draw(st.sampled_from(SEARCHES)),
        technique,
        recent,
        draw(st.sampled_from([1, 0])),
    )


def compare_with_spark(spark: SparkSession, case: Case) -> int:
    """Evaluate in both lanes and compare all rows of all statements; how many there were."""
    folder = Path(tempfile.mkdtemp())
    try:
        entries = [stated.entry(id) for id, stated in case.stated.items()]
        world = make_world(folder, case.arrival.batches, entries, case.arrival.lateness)
        plan = case.plan(world)
        for lane in LANES:
            _, manifest, report = run_on_spark(spark, world, plan, lane, files_per_batch=case.files_per_batch)
            assert report.lane == lane
            assert not manifest.late
            assert report.events == len(case.arrival.events)
        return _compare(spark, world, case)
    finally:
        spark.catalog.clearCache()
        shutil.rmtree(folder)


def _compare(spark: SparkSession, world: World, case: Case) -> int:
    until = case.arrival.until
    assert until is not None
    # in one piece and in the order of arrival: that is how Spark's row numbers break ties, too
    events = spark.read.parquet(*map(str, world.files)).coalesce(1)
    settled, rows = in_order(case.arrival.batches, until), 0
    for id, stated in case.stated.items():
        in_rows = stated.first.window.rows
        seen = events.where(f"unix_micros(ts) <= {until}") if in_rows else events
        seen.createOrReplaceTempView(STREAM)
        theirs = spark.sql(stated.text() if stated.in_sql else world.catalog.statements[id].sql)
        answers = theirs.toArrow()
        for lane in LANES:
            warehouse = str(world.folder / f"warehouse_{lane}")
            read = read_results(spark, warehouse, world.catalog, id).schema
            assert [(f.name, f.dataType) for f in read] == [(f.name, f.dataType) for f in theirs.schema], id
            ours = results_table(warehouse, world.catalog, id)
            rows += stated.compare(ours, answers, settled if in_rows else case.arrival.events, until)
    return rows
