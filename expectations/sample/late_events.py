"""Which windows missed which late events, so that plain Spark can leave them out, too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from jobs.engine.events.columns import microseconds
from jobs.engine.warehouse.manifest import Manifest, has_all_marks
from jobs.engine.warehouse.result_files import BATCH, CORRECTED_AFTER, WATERMARK, late_column
from jobs.host.storage import Storage
from optimizer.catalog.sql.expressions import in_backquotes

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LateEvents:
    """The late events: when each happened, and the watermark it came after, or where that is earlier, the time up to
    which emitted windows were not corrected any more.

    A window misses exactly the events inside it whose watermark is at or after its end. Between two such watermarks
    that is the same for all windows, so these barriers part the windows into few groups.
    """

    times: Ints
    watermarks: Ints

    def barriers(self) -> list[int]:
        """Return the watermarks that some event came after, in order."""
        return [int(watermark) for watermark in np.unique(self.watermarks)]

    def barrier(self, start: int, end: int) -> int | None:
        """Return the first barrier at or after the window's end, if the window missed anything."""
        inside = (self.times >= start) & (self.times < end) & (self.watermarks >= end)
        return int(self.watermarks[self.watermarks >= end].min()) if inside.any() else None


def read_late_events(storage: Storage, manifest: Manifest, time: str) -> LateEvents:
    """Read the times of the late events of a manifest and the watermarks they came after."""
    times, watermarks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for file in manifest.late:
        with pq.ParquetFile(storage.path(file.name), filesystem=storage.filesystem) as late:
            has_corrections = CORRECTED_AFTER in late.schema_arrow.names
            columns = [late_column(time), WATERMARK, *([CORRECTED_AFTER] if has_corrections else [])]
            table = late.read(columns)
        passed = pc.coalesce(table[CORRECTED_AFTER], table[WATERMARK]) if has_corrections else table[WATERMARK]
        times.append(microseconds(table[late_column(time)].combine_chunks()))
        watermarks.append(microseconds(passed.combine_chunks()))
    return LateEvents(np.concatenate(times), np.concatenate(watermarks))


def late_watermarks(storage: Storage, manifest: Manifest) -> dict[int, int]:
    """Return the watermark that each batch came after, for batches with events that were late for windows in rows."""
    if manifest.backfill:
        return {}
    if has_all_marks(manifest.marks, manifest.batch):
        marks = zip((None, *manifest.marks), manifest.marks, strict=False)
        return {mark.batch: before.watermark for before, mark in marks if before}
    watermarks: dict[int, int] = {}
    for file in manifest.late:
        table = pq.read_table(storage.path(file.name), filesystem=storage.filesystem, columns=[BATCH, WATERMARK])
        watermarks |= dict(
            zip(table[BATCH].to_pylist(), microseconds(table[WATERMARK].combine_chunks()).tolist(), strict=True)
        )
    return watermarks


def drop_missed_events(events: DataFrame, late: DataFrame, time: str, barrier: int) -> DataFrame:
    """Return the events without those that the windows before a barrier missed; of equal events, only as many go."""
    names = [name for name in events.columns if late_column(name) in late.columns]
    columns = [F.col(in_backquotes(name)) for name in names]
    plain = events.select(*columns)
    has_corrections = CORRECTED_AFTER in late.columns
    passed = F.coalesce(F.col(CORRECTED_AFTER), F.col(WATERMARK)) if has_corrections else F.col(WATERMARK)
    missed = late.where(F.unix_micros(passed) >= barrier).select(
        *(F.col(in_backquotes(late_column(name))).cast(events.schema[name].dataType).alias(name) for name in names)
    )
    moments = F.broadcast(missed.select(F.col(in_backquotes(time))).distinct())
    touched = plain.join(moments, time, "left_semi").select(*columns)
    rest = plain.join(moments, time, "left_anti").select(*columns)
    return rest.unionAll(touched.exceptAll(missed))


def late_frame(spark: SparkSession, storage: Storage, manifest: Manifest) -> DataFrame | None:
    """Return the late table as Spark reads it; None when no event was late."""
    paths = [storage.uri(file.name) for file in manifest.late]
    return spark.read.option("mergeSchema", "true").parquet(*paths) if paths else None
