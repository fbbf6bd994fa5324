"""A stream, measured from its newest files: events per second, keys active in a slice, and how far out of order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.events.parquet import opened
from jobs.engine.program.spark_types import plain
from jobs.engine.warehouse.input_files import arrived
from jobs.measure.recent_events import RecentEvents
from jobs.measure.recent_on_spark import recent_by
from jobs.spark.session import Start
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError
from optimizer.planning.defaults import ASSUMED_RATE

LOOKED_AT = 200_000  # events of the newest file
MICROSECONDS = 1e6
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Measurement:
    """What recent data shows; None where the files do not tell."""

    rate: float | None = None
    keys: float | None = None
    disorder: float | None = None  # share of the events that are older than one before them
    delay: float | None = None  # seconds by which the latest of them is late

    def figures(self) -> dict[str, float]:
        """The figures that are known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def measure(catalog: Catalog, stream: str) -> Measurement:
    """Measure a stream of Parquet files."""
    source = catalog.streams[stream]
    if not source.in_parquet:
        return Measurement()
    groupings = _groupings(catalog, stream)
    names = sorted({name for keys, _ in groupings for name in keys})
    table = _newest(source, names)
    if table is None or not table.num_rows:
        return Measurement(estimated_rate(source))
    times = _microseconds(table[source.time])
    counts = [_keys(times, table.select(keys), slide) for keys, slide in groupings if set(keys) <= set(names)]
    late = np.maximum.accumulate(times) - times
    return Measurement(
        estimated_rate(source),
        float(np.mean(counts)) if counts else None,
        float(np.mean(late > 0)),
        float(late.max() / MICROSECONDS),
    )


def _groupings(catalog: Catalog, stream: str) -> list[tuple[list[str], int]]:
    """Every set of group-by columns, with the smallest slide that it is asked for."""
    table = catalog.of_stream(stream)
    slides: dict[tuple[str, ...], int] = {}
    for code, shape in enumerate(table.shapes):
        asked = table.windows.slide[(table.codes == code) & ~table.windows.rows]
        if shape.group_by and len(asked):
            slides[shape.group_by] = min(slides.get(shape.group_by, 1 << 62), int(asked.min()))
    return [(list(keys), slide) for keys, slide in sorted(slides.items())]


def _newest(source: Stream, names: Sequence[str]) -> pa.Table | None:
    """The first events of the newest file that can be read, with these columns."""
    for path, _ in reversed(arrived(source.path)):
        try:
            with opened(path) as file:
                return _head(file, [source.time, *names])
        except (HeddleError, OSError, KeyError, pa.ArrowException):
            continue  # the evaluation will complain about it
    return None


def _head(file: pq.ParquetFile, columns: list[str]) -> pa.Table:
    held = [name for name in columns if name in file.schema_arrow.names]
    batches: list[Any] = []
    for batch in file.iter_batches(LOOKED_AT, columns=held):
        batches.append(batch)
        if sum(map(len, batches)) >= LOOKED_AT:
            break
    table = pa.Table.from_batches(batches, file.schema_arrow.empty_table().select(held).schema)
    return table.select(columns).filter(table[columns[0]].is_valid())


def _microseconds(column: pa.ChunkedArray) -> Ints:
    found: Ints = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_numpy()
    return found


def _keys(times: Ints, keys: pa.Table, slide: int) -> float:
    """The mean number of different keys in a slice of this length."""
    columns = {name: keys[name].cast(plain(keys[name].type)) for name in keys.column_names}
    table = pa.table({"": pa.array(times // slide), **columns})
    active = table.group_by(table.column_names).aggregate([]).num_rows
    return float(active / len(np.unique(times // slide)))


@dataclass(frozen=True)
class Seen:
    """Events per second and how that is known; keys active in a slice, 1 where recent events tell them better."""

    rate: float
    known: str
    keys: float
    recent: RecentEvents | None


def seen(catalog: Catalog, stream: str, start: Start | None, rate: float | None, keys: float | None) -> Seen:
    """Look at a stream, by Spark where only Spark can and there is one."""
    recent, shown = recent_by(start, catalog, stream), _shown(catalog, stream)
    measured = shown.rate or (recent.rate if recent else None)
    if keys is None:
        keys = 1.0 if recent else max(shown.keys or 1.0, 1.0)
    if rate is not None:
        return Seen(rate, "as given", keys, recent)
    known = "as its newest files have" if measured else "assumed, since its files do not tell"
    return Seen(measured or ASSUMED_RATE, known, keys, recent)


def _shown(catalog: Catalog, stream: str) -> Measurement:
    try:
        return measure(catalog, stream)
    except HeddleError:  # no files yet: a plan can be made all the same
        return Measurement()


NEWEST = 8  # files
Span = tuple[int, datetime, datetime]  # rows, first time, last time


def estimated_rate(stream: Stream) -> float | None:
    """Events per second of event time in the newest files; None where footers cannot tell."""
    if not stream.in_parquet:
        return None
    spans = [span for path, _ in arrived(stream.path)[-NEWEST:] for span in _spans(path, stream.time)]
    if not spans:
        return None
    seconds = (max(last for _, _, last in spans) - min(first for _, first, _ in spans)).total_seconds()
    return sum(rows for rows, _, _ in spans) / seconds if seconds > 0 else None


def _spans(path: str, time: str) -> list[Span]:
    """The row groups of a file; none of a file that cannot be read, which the evaluation will complain about."""
    try:
        with opened(path) as file:
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
