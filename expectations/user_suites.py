"""The users' own expectations (`expect:` in the catalog) as suites: of the events of a batch, and of a query's answers.

The events are looked at by one scan that counts, batch by batch, and the suite judges the counts: a batch of millions
of events costs Great Expectations no more than one of ten. Answers are judged one by one, all of them, not a sample.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import great_expectations.expectations as gxe
import pandas as pd

from expectations.data_docs import DOCS, RECORD
from expectations.sample import Scope
from expectations.sides.engine import engine_answers
from expectations.suites.suite import Suite, readable
from jobs.engine.sources.contract import File
from jobs.engine.warehouse.consumed_files import load_records
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.stream_frames import stream_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Expectation
from optimizer.catalog.sql.expressions import in_backquotes
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

LARGEST = 50  # batches that one audit looks at, the newest
SECOND = 1_000_000  # microseconds


def event_suite(spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest) -> Suite:
    """Return what is expected of the events that came since the last audit, with a row of counts for every batch."""
    expected = catalog.streams[stream].expect
    batches = {
        record.batch: record.files
        for record in load_records(storage)
        if last_audited_batch(storage, manifest) < record.batch <= manifest.batch and record.files
    }
    newest = manifest.watermark + catalog.streams[stream].lateness
    facts = count_events(spark, catalog, stream, dict(list(batches.items())[-LARGEST:]), expected)
    for each in expected:
        if each.kind == "freshness" and manifest.watermark > BEGINNING:
            facts[each.text] = (time.time() * SECOND - newest) / SECOND
    return Suite(lambda _: facts, ("batch",), {each.text: _of_counts(each) for each in expected})


def last_audited_batch(storage: Storage, manifest: Manifest) -> int:
    """Return the newest batch before this manifest's that an audit has looked at; -1 where there was none."""
    names = (name for name in storage.names(DOCS) if name.endswith(f"/{RECORD}"))
    for name in sorted(names, reverse=True):
        try:
            batch = int(json.loads(storage.read(name)).get("batch", -1))
        except (OSError, ValueError):
            continue  # a record that was cut short tells nothing
        if batch < manifest.batch:
            return batch
    return -1


def count_events(
    spark: SparkSession, catalog: Catalog, stream: str, batches: dict[int, list[File]], expected: Sequence[Expectation]
) -> pd.DataFrame:
    """Return a row for every batch: how many events break each expectation, or which share of them."""
    from pyspark.sql import functions as F  # noqa: N812

    counted = [each for each in expected if each.kind != "freshness"]
    if not batches:
        return pd.DataFrame(columns=["batch", *(each.text for each in counted)], dtype=object)
    frames = [
        stream_frame(spark, catalog, stream, files).agg(
            F.lit(batch).alias("batch"), *(_count(each).alias(str(number)) for number, each in enumerate(counted))
        )
        for batch, files in batches.items()
    ]
    rows = reduce(lambda a, b: a.unionByName(b), frames).toPandas().sort_values("batch", ignore_index=True)
    return rows.rename(columns={str(number): each.text for number, each in enumerate(counted)}).astype(object)


def _count(expectation: Expectation) -> Column:
    """Return what Spark counts for an expectation of the events."""
    from pyspark.sql import functions as F  # noqa: N812

    if expectation.kind == "volume":
        return F.count(F.lit(1))
    column = F.col(in_backquotes(expectation.column))
    if expectation.kind == "nulls":
        return F.coalesce(F.avg(column.isNull().cast("double")), F.lit(0.0))
    broken = F.lit(False)
    if expectation.kind == "set":
        broken = ~column.cast("string").isin(*expectation.values)
    if expectation.low is not None:
        broken = broken | (column < expectation.low)
    if expectation.high is not None:
        broken = broken | (column > expectation.high)
    return F.count_if(F.coalesce(broken, F.lit(False)))


def _of_counts(expectation: Expectation) -> Any:
    low, high = 0.0, 0.0  # events that break it
    if expectation.kind == "volume":
        low, high = expectation.low or 0.0, math.inf if expectation.high is None else expectation.high
    elif expectation.kind in ("nulls", "freshness"):
        high = float(expectation.high or 0) / (SECOND if expectation.kind == "freshness" else 1)
        low = -math.inf  # events may be ahead of the clock
    return _between(expectation, expectation.text, low, high)


def _between(expectation: Expectation, column: str, low: float | None, high: float | None) -> Any:
    bounds = {"min_value": low, "max_value": high}
    options: dict[str, Any] = {
        name: bound for name, bound in bounds.items() if bound is not None and math.isfinite(bound)
    }
    options |= {"severity": expectation.severity, "description": expectation.text}
    return gxe.ExpectColumnValuesToBeBetween(column=column, **options)


def answer_suites(
    catalog: Catalog, statements: Sequence[EvaluatedStatement], storage: Storage, manifest: Manifest, scope: Scope
) -> dict[str, Suite]:
    """Return what is expected of the answers that an audit is about, a suite for every aggregate that has some."""
    with_expectations = [each for each in statements if catalog.expect.get(each.statement.id) and not each.window.rows]
    before = max((each.window.slide for each in with_expectations), default=0)
    since = scope.since if scope.since == BEGINNING else scope.since - before
    answers = engine_answers(storage, manifest.results, with_expectations, since, scope.until)
    suites = {}
    for statement in with_expectations:
        rows = answers.rows(statement)
        names = {column.source: column.name for column in statement.statement.columns if column.kind == "answer"}
        for id, name in names.items():
            expected = [each for each in catalog.expect[statement.statement.id] if each.column in ("", name)]
            table = judge_answers(rows[rows["query"] == id], statement.window.slide, scope.since)
            if expected:
                suites[f"query {id}"] = _answer_suite(id, table, expected)
    return suites


def _answer_suite(id: str, table: pd.DataFrame, expected: Sequence[Expectation]) -> Suite:
    columns = {"range": "value", "change": "change"}
    named = {f"{id}: {each.text}": _between(each, columns[each.kind], each.low, each.high) for each in expected}
    return Suite(lambda _: table, ("query", "key", "window", "ours"), named)


def judge_answers(rows: pd.DataFrame, slide: int, since: int) -> pd.DataFrame:
    """Return the answers in windows that end after a time, as numbers, with their change against the window before.

    A change is a share of the answer before; where that is missing, or no number, there is none.
    """
    ordered = rows.sort_values(["key", "start"], ignore_index=True)
    values = [_number(text, number) for text, number in zip(ordered["text"], ordered["number"], strict=True)]
    changes: list[float | None] = [None] * len(values)
    places = list(zip(ordered["key"], ordered["start"], strict=True))
    for row in range(1, len(places)):
        (key, start), before = places[row], values[row - 1]
        if places[row - 1] == (key, start - slide) and before is not None:
            changes[row] = _change(before, values[row])
    table = readable(ordered).assign(value=pd.Series(values, dtype=object), change=pd.Series(changes, dtype=object))
    return table[ordered["end"].astype("int64") > since] if len(ordered) else table


def _change(before: float, value: float | None) -> float | None:
    """Return the share by which a value differs from the one before.

    >>> _change(4.0, 6.0), _change(0.0, 0.0), _change(0.0, 1.0), _change(1.0, None)
    (0.5, 0.0, inf, None)
    """
    if value is None:
        return None
    return abs(value - before) / abs(before) if before else 0.0 if value == before else math.inf


def _number(text: str | None, number: float | None) -> float | None:
    try:
        return number if text is None else float(text)
    except ValueError:
        return None  # an answer that is no number
