"""A stream, measured from its newest files: events per second, keys active in a slice, and how far out of order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.source import opened
from jobs.engine.taken import arrived
from jobs.engine.types import plain
from jobs.traffic import estimated_rate
from optimizer.catalog.catalog import Catalog
from optimizer.catalog.query import Stream
from optimizer.errors import HeddleError

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
