"""Streams in odd files: any names, folders, options and formats; evaluated in every lane, and by Spark alone."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from jobs.results import read_results
from jobs.runs.backfill import backfill, past_of
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from jobs.spark.stream_frames import literal_path
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import LONG_AGO, STREAM

LAST = 40 * SECOND  # the time of the last event, which lets all windows before it end
Content = pa.Table | str


@dataclass(frozen=True)
class SourceWorld:
    """A stream in some files, and its queries in SQL."""

    folder: Path
    source: dict[str, Any]
    sql: dict[str, str]
    catalog: Catalog

    @property
    def path(self) -> Path:
        """Where the files are."""
        return Path(self.source["path"])

    def run(self, spark: SparkSession, lane: str, warehouse: str = "") -> RunReport:
        """Evaluate all files as one batch, by one process or by Spark in a lane."""
        plan = plan_stream(self.catalog, STREAM, 10.0, "shared", "auto")
        place = str(self.folder / (warehouse or lane))
        if lane == "local":
            return evaluate_local(self.catalog, plan, place)
        return evaluate(spark, self.catalog, plan, place, Options(lane, buckets=2))

    def rows(self, spark: SparkSession, query: str, warehouse: str) -> list[str]:
        """The answers to a query, with the types of their columns first."""
        return rows_of(read_results(spark, str(self.folder / warehouse), self.catalog, query))

    def expected(self, spark: SparkSession, query: str) -> list[str]:
        """What Spark answers to the user's own SQL over the user's own source, in the windows that have ended."""
        self.read(spark).createOrReplaceTempView(STREAM)
        sql = self.sql[query].replace("SELECT ", "SELECT unix_micros(window.end) AS the_end, ", 1)
        return rows_of(spark.sql(sql).where(f"the_end <= {LAST}").drop("the_end"))

    def read(self, spark: SparkSession) -> DataFrame:
        """The events, by Spark's own reader."""
        options = dict(self.source.get("options", {}))
        schema = options.pop("schema", None)
        options.pop("maxFilesPerTrigger", None)
        reader = spark.read.format(self.source.get("format", "parquet")).options(**options)
        return (reader.schema(schema) if schema else reader).load(literal_path(str(self.path)))

    def differences(self, spark: SparkSession, lanes: Sequence[str]) -> dict[str, Any]:
        """The lanes, audits and backfills whose rows are not Spark's; in one process unshared queries are left out."""
        wrong: dict[str, Any] = {}
        for lane in lanes:
            report = self.run(spark, lane)
            for query in self.sql:
                if lane == "local" and any(id.startswith(query) for id in self.catalog.unshared(STREAM)):
                    continue
                ours, spark_rows = self.rows(spark, query, lane), self.expected(spark, query)
                if ours != spark_rows or len(ours) < 2:
                    wrong[f"{lane} {query}"] = (ours, spark_rows, report.notes)
        return wrong

    def audit(self, spark: SparkSession, lane: str) -> bool:
        """Whether the audit of a lane's rows passes."""
        from expectations.check import Choice, check  # imports Great Expectations, which takes seconds

        return check(spark, self.catalog, STREAM, str(self.folder / lane), Choice(everything=True)).audit.passed

    def backfill(self, spark: SparkSession, lane: str) -> None:
        """Compute the whole past of a lane's warehouse anew, into one called backfill."""
        plan = plan_stream(self.catalog, STREAM, 10.0, "shared", "auto")
        past = past_of(lambda: spark, self.catalog, plan, str(self.folder / lane))
        backfill(past, str(self.folder / "backfill"), (0, past.manifest.watermark))


def rows_of(frame: DataFrame) -> list[str]:
    """The rows of a frame as text, after its columns and their types."""
    return [str(frame.schema.simpleString()), *sorted(map(str, frame.toArrow().to_pylist()))]


def source_world(
    folder: Path,
    files: Mapping[str, Content],
    sql: Mapping[str, str],
    options: Mapping[str, str] | None = None,
    format: str = "parquet",
    data: str = "data",
    **stream: str,
) -> SourceWorld:
    """Write files, each a second younger than the one before it, and a catalog of queries over them."""
    for number, (name, content) in enumerate(files.items()):
        path = folder / data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            pq.write_table(content, path)
        os.utime(path, (LONG_AGO + number, LONG_AGO + number))
    source = {"format": format, "path": str(folder / data), "options": dict(options or {})}
    entry = {"source": source, "time": "ts", **stream}
    queries = [{"id": id, "sql": text} for id, text in sql.items()]
    (folder / "catalog").mkdir(parents=True)
    (folder / "catalog" / "c.yaml").write_text(json.dumps({"streams": {STREAM: entry}, "queries": queries}))
    return SourceWorld(folder, source, dict(sql), load_catalog(folder / "catalog"))
