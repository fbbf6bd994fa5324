"""A workload as a catalog folder: YAML that a person can read, or a bulk Parquet file when there are many queries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from optimizer.catalog.sql.durations import LONGEST, parse_duration, print_duration
from optimizer.errors import HeddleError, Mistake
from optimizer.workloads.workload import Workload

READABLE = 1000  # queries; more of them become a bulk file

SENSORS = """\
streams:
  sensors:
    source: {{format: parquet, path: {data}}}
    time: ts
    lateness: 5 seconds
"""
MARKET = """\
streams:
  trades:
    source: {{format: parquet, path: {data}}}
    time: ts
    lateness: 5 seconds
  market:
    source:
      sql: >-
        SELECT trades.ts, trades.symbol, trades.price, trades.volume, close.close, index.r3000, index.r2000, index.r1000
        FROM trades JOIN close ON trades.symbol = close.symbol JOIN index ON trades.symbol = index.symbol
    time: ts
    lateness: 5 seconds
tables:
  close:
    source: {{format: parquet, path: {close}}}
  index:
    source: {{format: parquet, path: {index}}}
"""
STREAMS = {"sensors": SENSORS, "market": MARKET}
DATA = {"sensors": "data/sensors", "market": "data/trades"}


def write_catalog(
    workload: Workload, folder: Path, data: str = "", tick: int = 1_000_000, readable: int = READABLE
) -> Path:
    """Write the workload's streams and queries into a folder, and return the file of the queries.

    A tick is `tick` microseconds; up to `readable` queries are written as YAML.
    """
    longest = int(workload.range.max()) * tick
    if longest > LONGEST:
        raise HeddleError(f"the longest range would be {print_duration(longest)}; give a shorter --tick")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise HeddleError(f"--out {folder} is not empty; name another folder, or remove it first")
        (folder / "streams.yaml").write_text(_streams_yaml(workload.stream, data or DATA[workload.stream]))
        write = _write_yaml if len(workload) <= readable else _write_bulk
        return write(workload, folder, tick)
    except OSError as error:
        raise HeddleError(f"--out {folder}: {error.strerror or error}; name a folder that can be written") from error


def parse_tick(text: str) -> int:
    """Return the microseconds of a tick that the user typed.

    >>> parse_tick("5 seconds")
    5000000
    """
    try:
        tick = parse_duration(text)
    except Mistake as mistake:
        raise HeddleError(f"--tick: {mistake.wrong}; {mistake.right}") from mistake
    if tick < 1:
        raise HeddleError(f"--tick {text} is too short; give 1 microsecond or more")
    return tick


def _streams_yaml(stream: str, data: str) -> str:
    paths = {"data": data, "close": f"{data}/_tables/close.parquet", "index": f"{data}/_tables/index.parquet"}
    return STREAMS[stream].format(**{name: json.dumps(path) for name, path in paths.items()})


def query_ids(count: int) -> list[str]:
    """Return the ids q1, q2, ..., padded with zeros so that they sort as numbers do.

    >>> query_ids(10)[:2]
    ['q01', 'q02']
    """
    width = len(str(count))
    return [f"q{number:0{width}}" for number in range(1, count + 1)]


def _write_yaml(workload: Workload, folder: Path, tick: int) -> Path:
    lines = ["queries:"]
    for number, (name, window) in enumerate(zip(query_ids(len(workload)), workload.windows(), strict=True)):
        shape = workload.shape_of(number)
        where = f', where: "{shape.where}"' if shape.where else ""
        keys = f", group_by: [{shape.group_by}]" if shape.group_by else ""
        lengths = f"range: {print_duration(window.range * tick)}, slide: {print_duration(window.slide * tick)}"
        lines.append(f"  - {{id: {name}, stream: {shape.stream}, select: {shape.select}{where}{keys}, {lengths}}}")
    path = folder / "queries.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def _write_bulk(workload: Workload, folder: Path, tick: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = np.zeros(len(workload), np.int32) if workload.shape is None else workload.shape.astype(np.int32)

    def column_of(field: str) -> pa.Array:
        texts = pa.array([getattr(shape, field) for shape in workload.shapes], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(codes), texts)

    columns = {
        "id": pa.array(query_ids(len(workload))),
        **{field: column_of(field) for field in ("stream", "select", "where", "group_by")},
        "range": pa.array(workload.range * tick),
        "slide": pa.array(workload.slide * tick),
        "offset": pa.array(np.zeros(len(workload), np.int64)),
    }
    path = folder / "queries.parquet"
    pq.write_table(pa.table(columns), path, store_schema=False)
    return path
