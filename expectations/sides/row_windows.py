"""Both sides of windows in rows: the user's own statement over the events in the order they are numbered in."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample.late_events import late_watermarks
from expectations.sample.windows import Scope
from expectations.sides.engine import engine_rows
from expectations.sides.plain_spark import LAST, evaluated_files, long_rows, with_extras
from expectations.sides.row import COLUMNS, Sides
from jobs.engine.warehouse.consumed_files import plain_path
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.stream_frames import file_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.expressions import quote
from optimizer.windows.window import BEGINNING

ARRIVAL, FILE, PLACE = "heddle arrival", "heddle file", "heddle place"


@dataclass(frozen=True)
class InRows:
    """The events that have a number, each with when it arrived, by which ties are broken."""

    spark: SparkSession
    stream: Stream
    events: DataFrame
    storage: Storage
    manifest: Manifest

    def sides(self, asked: EvaluatedStatement, scope: Scope) -> Sides:
        """The windows that became full since the last audit, or a sample of them."""
        expected, low = self._answers(asked).localCheckpoint(), max(scope.since, asked.after)
        ours = engine_rows(self.spark, self.storage, self.manifest.results, [asked])
        if low > BEGINNING:
            out = expected.where(F.col(LAST) <= low).groupBy("key").agg(F.max("end").alias("out"))
            ours = ours.join(out, "key", "left").where(F.col("end") > F.coalesce("out", F.lit(BEGINNING)))
            expected = expected.where(F.col(LAST) > low)
        chosen = F.lit(True) if scope.everything else self._sampled(expected, scope)
        return Sides(ours.where(chosen).select(*COLUMNS), expected.where(chosen).drop(LAST))

    def _sampled(self, expected: DataFrame, scope: Scope) -> Column:
        order = F.xxhash64("start", F.lit(scope.seed))
        starts = expected.select("start").distinct().orderBy(order, "start").limit(scope.windows).collect()
        return F.col("start").isin(*(row["start"] for row in starts))

    def _answers(self, asked: EvaluatedStatement) -> DataFrame:
        self.events.createOrReplaceTempView(quote(self.stream.name))
        time = quote(self.stream.time)
        sql = with_extras(asked, self.stream.time).replace(f"ORDER BY {time}", f"ORDER BY {time}, `{ARRIVAL}`", 1)
        found = self.spark.sql(sql)
        self.spark.catalog.dropTempView(self.stream.name)
        return long_rows(found, asked)


def in_rows(spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest) -> InRows:
    """The events up to the watermark, without those that came after it."""
    source = catalog.streams[stream]
    taken = evaluated_files(storage, manifest)
    place = "_metadata.row_index" if source.format == "parquet" else "monotonically_increasing_id()"
    read = file_frame(spark, source, list(taken)).selectExpr(
        "*", f"_metadata.file_path AS `{FILE}`", f"{place} AS `{PLACE}`"
    )
    late = late_watermarks(storage, manifest)
    order = {path: number for number, path in enumerate(taken)} if manifest.backfill else dict.fromkeys(taken, 0)
    facts = [
        (name, taken[path], order[path], f"{path}#", late.get(taken[path], BEGINNING))
        for name, path in _names(read).items()
    ]
    told = spark.createDataFrame(facts, f"`{FILE}` string, batch int, number int, path string, late bigint")
    time = F.unix_micros(F.col(quote(source.time)).cast("timestamp"))
    arrival = F.struct("batch", "number", "path", F.col(f"`{PLACE}`")).alias(ARRIVAL)
    kept = [F.col(quote(name)) for name in read.columns if name not in (FILE, PLACE)]
    events = read.join(F.broadcast(told), FILE).where((time <= manifest.watermark) & (time >= F.col("late")))
    return InRows(spark, source, events.select(*kept, arrival), storage, manifest)


def _names(read: DataFrame) -> dict[str, str]:
    """What Spark calls the files, and what the record of the evaluation does."""
    names = [row[0] for row in read.select(F.col(f"`{FILE}`")).distinct().collect()]
    return {name: plain_path(name) for name in names}
