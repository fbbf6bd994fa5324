"""A workload: many windows, the few shapes of query that ask for them, and the card that describes its generator.

The generators share draws by Zipf's law, factors of a number, ranges for slides, and checks of parameters. A workload
is written as a catalog folder: YAML that a person can read, or a bulk Parquet file when there are many queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc, signature
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from optimizer.catalog.sql.durations import LONGEST, parse_duration, print_duration
from optimizer.errors import HeddleError, Mistake
from optimizer.windows.window import Window

Ticks: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """A query without its window: what it selects, of which events, by which keys, from which stream."""

    select: str = "max(energy_1)"
    where: str = ""
    group_by: str = ""
    stream: str = "sensors"


@dataclass(frozen=True, eq=False)
class Workload:
    """Windows in ticks as columns: query i has shapes[shape[i]] over (range[i], slide[i]).

    >>> two = Workload(np.array([60, 30]), np.array([10, 30]))
    >>> len(two), two.stream, two.windows()[1].slide, two.shape_of(1).select
    (2, 'sensors', 30, 'max(energy_1)')
    """

    range: Ticks
    slide: Ticks
    shapes: tuple[Shape, ...] = (Shape(),)
    shape: Ticks | None = None  # None: every query has the only shape
    rate: float = 1000.0  # lambda: events a second

    def __len__(self) -> int:
        return len(self.range)

    @property
    def stream(self) -> str:
        """The stream that all queries of the workload read."""
        return self.shapes[0].stream

    def windows(self) -> list[Window]:
        """Return the windows as objects."""
        pairs = zip(self.range.tolist(), self.slide.tolist(), strict=True)
        return [Window(range=range_, slide=slide) for range_, slide in pairs]

    def shape_of(self, query: int) -> Shape:
        """Return the shape of query number `query`."""
        return self.shapes[0 if self.shape is None else int(self.shape[query])]


@dataclass(frozen=True)
class Card:
    """A workload's generator, the paper it comes from, and the stream its queries read.

    The command line and docs/workloads.md are made from it.
    """

    generate: Callable[..., Workload]
    paper: str
    stream: str = "sensors"

    @property
    def about(self) -> str:
        """What the generator draws: the docstring's first line."""
        return (getdoc(self.generate) or "").partition("\n")[0]

    @property
    def options(self) -> dict[str, object]:
        """The generator's parameters besides the number of queries, with their defaults."""
        parameters = signature(self.generate).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters if parameter.name != "queries"}


def zipf_weights(count: int, skew: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of `count` ranks under Zipf's law; with skew 0 all ranks are equally likely.

    A negative skew favours the last ranks.

    >>> zipf_weights(4, 0.0).tolist()
    [0.25, 0.25, 0.25, 0.25]
    >>> zipf_weights(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    >>> zipf_weights(3, -1.0).round(3).tolist()
    [0.167, 0.333, 0.5]
    """
    weights = np.arange(1, count + 1, dtype=np.float64) ** -skew
    return np.asarray(weights / weights.sum())


def factors_of(number: int) -> Ticks:
    """Return every divisor of a number, smallest first.

    >>> factors_of(12).tolist()
    [1, 2, 3, 4, 6, 12]
    """
    small = [divisor for divisor in range(1, int(number**0.5) + 1) if number % divisor == 0]
    return np.array(sorted({*small, *(number // divisor for divisor in small)}), dtype=np.int64)


def draw_slides(popular_first: Ticks, queries: int, z_skew: float, rng: np.random.Generator) -> Ticks:
    """Draw a slide per query from the given ones by Zipf's law, the first of them the likeliest.

    >>> draw_slides(np.array([12, 6, 4]), 8, 2.0, np.random.default_rng(0)).tolist()
    [12, 12, 12, 12, 6, 6, 12, 12]
    """
    return rng.choice(popular_first, queries, p=zipf_weights(len(popular_first), z_skew))


def draw_ranges(slides: Ticks, largest_overlap: int, residues: bool, rng: np.random.Generator) -> Ticks:
    """Draw a range per slide: a whole overlap factor from 1 up to the largest; with residues, any range in between.

    >>> draw_ranges(np.array([10, 10, 10]), 5, False, np.random.default_rng(0)).tolist()
    [50, 40, 30]
    >>> draw_ranges(np.array([10, 10, 10]), 5, True, np.random.default_rng(0)).tolist()
    [44, 36, 30]
    """
    if residues:
        return rng.integers(slides, slides * largest_overlap, endpoint=True)
    return slides * rng.integers(1, largest_overlap, len(slides), endpoint=True)


def require(name: str, value: float, low: float, high: float) -> None:
    """Refuse a parameter that is out of its bounds, in the user's words.

    >>> require("s_max", 0, 1, 100)
    Traceback (most recent call last):
    optimizer.errors.HeddleError: --s-max 0 is out of range; it goes from 1 to 100
    """
    if not low <= value <= high:
        raise HeddleError(f"{option_name(name)} {value:g} is out of range; it goes from {low:g} to {high:g}")


def require_zipf(o_max: int, rate: float, z_skew: float) -> None:
    """Refuse parameters of a workload by Zipf's law that are out of their bounds."""
    require("o_max", o_max, 1, 10**6)
    require("rate", rate, 0.001, 10**9)
    require("z_skew", z_skew, -5, 5)


def option_name(name: str) -> str:
    """Return a parameter's name as the user types it.

    >>> option_name("s_max")
    '--s-max'
    """
    return "--" + name.replace("_", "-")


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
