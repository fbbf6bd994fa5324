"""Both sides of windows in rows: the user's own statement over the events in the order they are numbered in."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from expectations.sample import Scope, late_watermarks, sample_starts
from expectations.sides.engine import EngineAnswers
from expectations.sides.plain_spark import evaluated_files, long_rows, numbered_columns, with_extras
from expectations.sides.row import LAST, Sides
from jobs.engine.warehouse.consumed_files import plain_path
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.statements import EvaluatedStatement
from jobs.host.storage import Storage
from jobs.spark.stream_frames import file_frame
from optimizer.catalog.model.catalog import Catalog, columns_of_statement
from optimizer.catalog.model.query import Stream
from optimizer.catalog.sql.expressions import free_name, in_backquotes, quote
from optimizer.windows.window import BEGINNING

EVENT, ARRIVAL = "event", "arrival"  # an event, all its columns in one, and when it arrived


@dataclass(frozen=True)
class NumberedEvents:
    """The events that have a number, each as one column, and when it arrived, by which ties are broken."""

    spark: SparkSession
    stream: Stream
    events: DataFrame

    def sides(self, statement: EvaluatedStatement, answers: EngineAnswers, scope: Scope) -> Sides:
        """Return both sides of the windows that became full since the last audit, or of a sample of them."""
        expected, low = self._answers(statement), max(scope.since, statement.after)
        ours = answers.rows(statement)
        if low > BEGINNING:
            out = expected[expected[LAST] <= low].groupby("key")["end"].max().to_dict()
            ours = ours[[end > out.get(key, BEGINNING) for key, end in zip(ours["key"], ours["end"], strict=True)]]
            expected = expected[expected[LAST] > low]
        if not scope.everything:
            starts = sample_starts(expected["start"].unique().tolist(), statement, scope)
            ours, expected = ours[ours["start"].isin(starts)], expected[expected["start"].isin(starts)]
        return Sides(ours, expected.drop(columns=LAST))

    def _answers(self, statement: EvaluatedStatement) -> pd.DataFrame:
        time = self.stream.time
        read = sorted(columns_of_statement(statement.queries.values(), time))
        ties = free_name(ARRIVAL, {name.lower() for name in read})
        columns = [F.col(EVENT).getField(name).alias(name) for name in read]
        self.events.select(*columns, F.col(ARRIVAL).alias(ties)).createOrReplaceTempView(quote(self.stream.name))
        sql = with_extras(statement, time, ties)
        try:
            return long_rows(numbered_columns(self.spark.sql(sql)).toArrow(), statement)
        finally:
            self.spark.catalog.dropTempView(self.stream.name)


def numbered_events(
    spark: SparkSession, catalog: Catalog, stream: str, storage: Storage, manifest: Manifest
) -> NumberedEvents:
    """Return the events up to the watermark, without those that came after it."""
    source = catalog.streams[stream]
    files = evaluated_files(storage, manifest)
    read = file_frame(spark, source, [file for _, file in files.values()])
    metadata = read.metadataColumn("_metadata")
    place = metadata.getField("row_index") if source.in_parquet else F.monotonically_increasing_id()
    event = F.struct(*(F.col(in_backquotes(name)) for name in read.columns))
    read = read.select(event.alias(EVENT), metadata.getField("file_path").alias("file"), place.alias("place"))
    late = late_watermarks(storage, manifest)
    order = {path: number for number, path in enumerate(files)} if manifest.backfill else dict.fromkeys(files, 0)
    facts = [
        (name, files[path][0], order[path], f"{path}#", late.get(files[path][0], BEGINNING))
        for name, path in _names(read).items()
    ]
    file_facts = spark.createDataFrame(facts, "file string, batch int, number int, path string, late bigint")
    time = F.unix_micros(F.col(EVENT).getField(source.time).cast("timestamp"))
    arrival = F.struct("batch", "number", "path", "place").alias(ARRIVAL)
    events = read.join(F.broadcast(file_facts), "file").where((time <= manifest.watermark) & (time >= F.col("late")))
    return NumberedEvents(spark, source, events.select(EVENT, arrival))


def _names(read: DataFrame) -> dict[str, str]:
    """Return what the record of the evaluation calls the files, by what Spark calls them."""
    names = [row[0] for row in read.select("file").distinct().collect()]
    return {name: plain_path(name) for name in names}
