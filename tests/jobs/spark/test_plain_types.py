"""Decimals and values of every other plain type are folded in both lanes, with the answers and types of Spark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.results import read_results, results_table
from jobs.runs.in_process import evaluate_local
from jobs.spark import frame_lane
from optimizer.planning.stream import plan_stream
from tests.jobs.spark.test_unshared import WINDOW, ended, rows, run
from tests.whole.against_spark.test_against_spark import some_batches, until
from tests.worlds.streams import table_of
from tests.worlds.warehouse import STREAM, add_batch

SQL = {
    "half": f"SELECT window, sum(i * 0.5) AS half FROM {STREAM} GROUP BY {WINDOW}",  # 0.5 is a decimal to Spark
    "sums": f"SELECT k, window, sum(p) AS t, count(p) AS n, sum(i) AS i, avg(p) a FROM {STREAM} GROUP BY k, {WINDOW}",
    "ends": f"SELECT window, max(p) AS t, max_by(k, p) AS k, first(p) AS f FROM {STREAM} WHERE p > 1 GROUP BY {WINDOW}",
    "tried": f"SELECT k, window, try_sum(p) s, try_avg(p) a FROM {STREAM} GROUP BY k, {WINDOW}",
    "wide": f"SELECT k, window, sum(q) s, avg(q) a, min(q) l, max_by(q, u) m FROM {STREAM} GROUP BY k, {WINDOW}",
    "bytes": f"SELECT window, max(raw) m, min_by(raw, u) b, max_by(p, u) p, max_by(u, q) u FROM {STREAM} "
    f"GROUP BY {WINDOW}",
    "kinds": f"SELECT k, window, max_by(d, u) d, min_by(b, u) b, max_by(s, u) s, max_by(ts, u) t FROM {STREAM} "
    f"GROUP BY k, {WINDOW}",
}


def with_plain_types(number: int, batch: pa.Table) -> pa.Table:
    """The batch with decimals of one word (p) and of two (q), bytes (raw), and numbers that are never equal (u)."""
    wholes = batch["i"].to_pylist()
    price = [None if i is None else Decimal(n * n + i) / 100 for n, i in enumerate(wholes)]
    large = [None if i is None else Decimal((n * 10**20 + 7) * (i * 2 + 1)) / 10**7 for n, i in enumerate(wholes)]
    columns = {
        "p": pa.array(price, pa.decimal128(12, 2)),
        "q": pa.array(large, pa.decimal128(38, 7)),
        "raw": pa.array([None if i is None else bytes([n % 256, i % 256]) for n, i in enumerate(wholes)], pa.binary()),
        "u": pa.array([n * 1_000 + number for n in range(len(wholes))], pa.int64()),
    }
    for name, column in columns.items():
        batch = batch.append_column(name, column)
    return batch


@pytest.mark.parametrize("lane", ["file", "frame"])
def test_like_the_users_sql(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str) -> None:
    monkeypatch.setattr(frame_lane, "FEWER", 0)
    batches = some_batches(8)
    (tmp_path / "data").mkdir()
    for number, batch in enumerate(batches):
        add_batch(tmp_path, number, with_plain_types(number, table_of(batch)))
    catalog, report = run(spark, tmp_path, [{"id": id, "sql": sql} for id, sql in SQL.items()], lane)
    assert (report.lane, report.unshared) == (lane, {})
    spark.read.parquet(str(tmp_path / "data")).createOrReplaceTempView(STREAM)
    for id, sql in SQL.items():
        expected = ended(spark, sql.replace("first(p)", "min_by(p, ts)"), until(batches))
        answers = read_results(spark, str(tmp_path / "warehouse"), catalog, id)
        assert [(f.name, f.dataType) for f in answers.schema] == [(f.name, f.dataType) for f in expected.schema]
        theirs = rows(expected)
        assert rows(answers) == theirs, id
        assert results_table(str(tmp_path / "warehouse"), catalog, id).num_rows == len(theirs)
    outcome = check(spark, catalog, STREAM, str(tmp_path / "warehouse"), Choice(everything=True))
    assert outcome.audit.passed, [each.examples for each in outcome.audit.checks]
    if lane == "file":
        plan = plan_stream(catalog, STREAM, 10.0, "shared", technique="auto")
        evaluate_local(catalog, plan, str(tmp_path / "local"))
        for id in SQL:
            by_spark, alone = (results_table(str(tmp_path / name), catalog, id) for name in ("warehouse", "local"))
            assert sorted(map(str, alone.to_pylist())) == sorted(map(str, by_spark.to_pylist())), id
