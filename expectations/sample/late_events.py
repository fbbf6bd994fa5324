"""Which windows missed which late events, so that plain Spark can be asked without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from jobs.engine.events.columns import microseconds
from jobs.engine.warehouse.late_files import BATCH, MISSED, WATERMARK
from jobs.engine.warehouse.manifest import Manifest, has_all_marks
from jobs.host.storage import Storage

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Missed:
    """The late events: when each happened, and the watermark it came after.

    A window misses exactly the events inside it whose watermark is at or after its end. Between two such watermarks
    that is the same for all windows, so these barriers part the windows into few groups.
    """

    times: Ints
    watermarks: Ints

    def barriers(self) -> list[int]:
        """The watermarks that some event came after, in order."""
        return [int(watermark) for watermark in np.unique(self.watermarks)]

    def barrier(self, start: int, end: int) -> int | None:
        """The first barrier at or after the window's end, if the window missed anything."""
        inside = (self.times >= start) & (self.times < end) & (self.watermarks >= end)
        return int(self.watermarks[self.watermarks >= end].min()) if inside.any() else None


def missed_events(storage: Storage, manifest: Manifest, time: str) -> Missed:
    """What the late table of a manifest says, without the events themselves."""
    times, watermarks = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for file in manifest.late:
        table = pq.read_table(storage.path(file.name), filesystem=storage.filesystem, columns=[time, WATERMARK])
        times.append(microseconds(table[time].combine_chunks()))
        watermarks.append(microseconds(table[WATERMARK].combine_chunks()))
    return Missed(np.concatenate(times), np.concatenate(watermarks))


def late_watermarks(storage: Storage, manifest: Manifest) -> dict[int, int]:
    """The watermark that each batch came after, of those whose events may have been late for windows in rows."""
    if manifest.backfill:
        return {}
    if has_all_marks(manifest.marks, manifest.batch):
        marks = zip((None, *manifest.marks), manifest.marks, strict=False)
        return {mark.batch: before.watermark for before, mark in marks if before}
    found: dict[int, int] = {}
    for file in manifest.late:
        table = pq.read_table(storage.path(file.name), filesystem=storage.filesystem, columns=[BATCH, WATERMARK])
        found |= dict(
            zip(table[BATCH].to_pylist(), microseconds(table[WATERMARK].combine_chunks()).tolist(), strict=True)
        )
    return found


def without_missed(events: DataFrame, late: DataFrame, time: str, barrier: int) -> DataFrame:
    """The events that the windows before a barrier did not miss; equal events are told apart by their number."""
    columns = [name for name in late.columns if name not in (MISSED, BATCH, WATERMARK)]
    kept = events.select(*(F.col(f"`{name}`") for name in columns))
    gone = late.where(F.unix_micros(F.col(WATERMARK)) >= barrier).select(
        *(F.col(f"`{name}`").cast(events.schema[name].dataType).alias(name) for name in columns)
    )
    moments = F.broadcast(gone.select(F.col(f"`{time}`")).distinct())
    touched = kept.join(moments, time, "left_semi").select(*(F.col(f"`{name}`") for name in columns))
    rest = kept.join(moments, time, "left_anti").select(*(F.col(f"`{name}`") for name in columns))
    return rest.unionAll(touched.exceptAll(gone))


def late_events(spark: SparkSession, storage: Storage, manifest: Manifest) -> DataFrame | None:
    """The late table as Spark reads it."""
    paths = [storage.uri(file.name) for file in manifest.late]
    return spark.read.option("mergeSchema", "true").parquet(*paths) if paths else None
