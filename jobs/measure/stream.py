"""What a stream is like: events per second, keys active in a slice, how far events are out of order, recent events.

What a user gives counts, else what the newest files show, else what is assumed. The newest events are read as fits
the stream: by this process, or by Spark where only Spark can.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.events.arrow import in_utc
from jobs.engine.events.columns import events_from
from jobs.engine.events.expressions import NotExact
from jobs.engine.events.parquet_file import open_parquet
from jobs.engine.sources import list_input_files
from jobs.kernels.arrays import Ints
from jobs.measure.recent_events import MOST, NEWEST, RecentEvents, measuring_program, recent_events, recent_keys
from jobs.spark.session import Start, in_zone
from jobs.spark.stream_frames import arrived_files, driver_of, stream_frame
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError
from optimizer.planning.choices import ASSUMED_RATE
from optimizer.planning.windows import require_positive

LOOKED_AT = 200_000  # events of the newest file whose order is looked at
MICROSECONDS = 1e6
Span = tuple[int, datetime, datetime]  # rows, first time, last time


@dataclass(frozen=True)
class Measured:
    """What was measured of a stream: its rate, its keys, how far events are out of order."""

    rate: float  # events per second
    how_known: str
    keys: float  # active in a slice, on average over the groupings
    disorder: float | None  # share of the events that are older than one before them; None where no file tells
    delay: float | None  # seconds by which the latest of those is late
    recent: RecentEvents | None  # None where no event can be read
    planned_keys: float  # the keys to plan by: 1 where recent events tell the keys of every grouping
    figures: dict[str, float]  # what files showed, whatever the user gave


def measure_stream(
    catalog: Catalog, stream: str, start: Start | None = None, rate: float | None = None, keys: float | None = None
) -> Measured:
    """Measure a stream by its newest files; Spark reads them where only Spark can and `start` is given."""
    source = catalog.streams[stream]
    recent = recent_by(start, catalog, stream)
    rate_shown = _shown_rate(source) or (recent.rate if recent else None)
    keys_shown = _shown_keys(catalog, stream, recent)
    late = _newest_delays(source)
    disorder = float(np.mean(late > 0)) if late is not None else None
    delay = float(late.max() / MICROSECONDS) if late is not None else None
    measured = {"rate": rate_shown, "keys": keys_shown, "disorder": disorder, "delay": delay}
    figures = {name: value for name, value in measured.items() if value is not None}
    known_keys = max(require_positive(keys, "keys") if keys is not None else keys_shown or 1.0, 1.0)
    planned_keys = keys if keys is not None else 1.0 if recent else known_keys
    return Measured(*_known_rate(rate, rate_shown), known_keys, disorder, delay, recent, planned_keys, figures)


def _known_rate(rate: float | None, measured: float | None) -> tuple[float, str]:
    if rate is not None:
        return require_positive(rate, "rate"), "as given"
    if measured:
        return measured, "as its newest files have"
    return ASSUMED_RATE, "assumed, since its files do not tell"


def _shown_rate(source: Stream) -> float | None:
    try:
        return estimated_rate(source)
    except HeddleError:  # no files yet: a plan can be made all the same
        return None


def _shown_keys(catalog: Catalog, stream: str, recent: RecentEvents | None) -> float | None:
    """Return the mean over the groupings, each by slices as long as its shortest slide."""
    slides = _shortest_slides(catalog, stream)
    recent = recent or (recent_keys(catalog, stream, slides) if slides else None)
    if not slides or recent is None:
        return None
    return float(np.mean([recent.keys(group_by, slide) for group_by, slide in slides.items()]))


def _shortest_slides(catalog: Catalog, stream: str) -> dict[tuple[str, ...], int]:
    """Return the shortest slide in time of every set of group-by columns."""
    table = catalog.of_stream(stream)
    slides: dict[tuple[str, ...], int] = {}
    for code, shape in enumerate(table.shapes):
        own = table.windows.slide[(table.codes == code) & ~table.windows.rows]
        if shape.group_by and len(own):
            slides[shape.group_by] = min(slides.get(shape.group_by, 1 << 62), int(own.min()))
    return slides


def _newest_delays(source: Stream) -> Ints | None:
    """Return by how much every event of the newest readable file is older than the latest before it."""
    if not source.in_parquet:
        return None
    try:
        paths = [file.path for file in list_input_files(source)]
    except HeddleError:
        return None
    for path in reversed(paths):
        try:
            times = _first_times(path, source.time)
        except (HeddleError, OSError, KeyError, StopIteration, pa.ArrowException):
            continue  # the evaluation will complain about it
        return np.maximum.accumulate(times) - times if len(times) else None
    return None


def _first_times(path: str, name: str) -> Ints:
    """Return the first times of a file in microseconds; none where the column holds no times."""
    with open_parquet(path) as file:
        column = next(file.iter_batches(LOOKED_AT, columns=[name]))[name].drop_null()
    if not pa.types.is_timestamp(column.type):
        return np.empty(0, np.int64)  # the evaluation complains about it
    times: Ints = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_numpy(zero_copy_only=False)
    return times


def estimated_rate(stream: Stream) -> float | None:
    """Return events per second of event time in the newest files; None where footers cannot tell."""
    if not stream.in_parquet:
        return None
    spans = [span for file in list_input_files(stream)[-NEWEST:] for span in _spans(file.path, stream.time)]
    if not spans:
        return None
    seconds = (max(last for _, _, last in spans) - min(first for _, first, _ in spans)).total_seconds()
    return sum(rows for rows, _, _ in spans) / seconds if seconds > 0 else None


def _spans(path: str, time: str) -> list[Span]:
    """Return the row groups of a file; none of a file that cannot be read, which the evaluation complains about."""
    try:
        with open_parquet(path) as file:
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    except (HeddleError, OSError):
        return []
    return [span for group in groups if (span := _span(group, time))]


def _span(group: Any, time: str) -> Span | None:
    chunks = (group.column(number) for number in range(group.num_columns))
    statistics = next((chunk.statistics for chunk in chunks if chunk.path_in_schema == time), None)
    if not statistics or not statistics.has_min_max or not isinstance(statistics.min, datetime):
        return None
    first, last = (at if at.tzinfo else at.replace(tzinfo=UTC) for at in (statistics.min, statistics.max))
    return group.num_rows, first, last


def recent_by(start: Start | None, catalog: Catalog, stream: str) -> RecentEvents | None:
    """Return the newest events; None where there are none, or where only Spark can read them and there is none."""
    try:
        return recent_events(catalog, stream)
    except NotExact:
        return recent_on_spark(start, catalog, stream) if start else None


def recent_on_spark(start: Start, catalog: Catalog, stream: str) -> RecentEvents | None:
    """Return the newest events of any stream, its keys and predicates evaluated by Spark."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # has no stubs
    from pyspark.errors import PySparkException

    from jobs.spark.frame_lane import frame_inputs, prepare_inputs

    driver = driver_of(catalog, stream)
    if not driver.in_spark and not (driver.path and list_input_files(driver)):
        return None  # without a word of Spark, which takes a while to start
    program = measuring_program(catalog, stream)
    try:
        files = arrived_files(start(), driver)[-NEWEST:]
        if not files:
            return None
        frame = stream_frame(in_zone(start(), catalog.streams[stream].zone), catalog, stream, files)
        read = in_utc(prepare_inputs(frame, program).limit(MOST).toArrow())
    except (PySparkException, Py4JError):  # the evaluation will complain where it has to
        return None
    events = events_from(frame_inputs(read, program), program)
    names, values = ({each.sql: each.name for each in inputs} for inputs in (program.predicates, program.values))
    return RecentEvents(events, names, values=values) if len(events.times) else None
