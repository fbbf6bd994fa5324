"""What a stream's newest events say of its keys and predicates, for the planner."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import Events, events_from
from jobs.engine.events.expressions import NotExact
from jobs.engine.events.keys import Keys, key_codes, sign_keys, unpack_signatures
from jobs.engine.events.parquet import read_split, split_of, with_inputs
from jobs.engine.events.parquet_file import open_parquet
from jobs.engine.program.program import SIGNATURE, Grouping, Input, Program, key_columns
from jobs.engine.slices.cells import find_cells
from jobs.engine.sources import list_input_files, table_columns
from jobs.engine.sources.contract import ARROW, folder_types
from jobs.kernels.arrays import Bools, Ints
from jobs.kernels.tallies.merge import order_codes
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.model.source_files import folder_root
from optimizer.catalog.spark_types.parquet import BY_SPARK
from optimizer.catalog.sql.expressions import plain
from optimizer.errors import HeddleError
from optimizer.plan.definition import Curve, Measure, Tree
from optimizer.plan.measures import demands_of, measures_of
from optimizer.planning.recent import Passing
from optimizer.windows.edges import Edges
from optimizer.windows.window import FloatArray

NEWEST = 8  # files
MOST = 1 << 18  # events
SECOND = 1_000_000
POINTS = 40  # of a curve of active keys


@dataclass(frozen=True)
class RecentEvents:
    """Some events, and the names under which they hold the predicates. Answers are remembered."""

    events: Events
    names: dict[str, str]
    grouped: dict[tuple[str, ...], Keys] = field(default_factory=dict)
    answered: dict[Hashable, Passing] = field(default_factory=dict)
    cuts: tuple[int, ...] = ()  # places among the events where others were left out
    values: dict[str, str] = field(default_factory=dict)  # the names of the columns whose values are counted
    in_files: tuple[int, ...] = ()  # the events of each of the newest files

    @property
    def rate(self) -> float | None:
        """Events per second; None where they all happened at once."""
        seconds = float(np.ptp(self.events.times)) / SECOND
        return len(self.events.times) / seconds if seconds else None

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many groups are active in a slice of this length, on average."""
        keys = self._keys(group_by)
        cells = find_cells(((slide, 0),), self.events.times, keys.codes, keys.distinct.num_rows)
        return len(cells.start) / max(1, len(np.unique(cells.start)))

    def active(self, group_by: tuple[str, ...], rate: float) -> Curve:
        """Return how many groups have an event in spans of time, at so many events per second."""
        keys = self._keys(group_by)
        part = np.searchsorted(np.array(self.cuts, np.int64), np.arange(len(keys.codes)), side="right")
        return activity_curve(self.events.times / SECOND, keys.codes + part * keys.distinct.num_rows, rate)

    def file_events(self) -> float:
        """Return the mean number of events in a file; 0 where nobody knows."""
        return float(np.mean(self.in_files)) if self.in_files else 0.0

    def share(self, where: str) -> float:
        """Return the share of events that pass a predicate; all pass ""."""
        return float(np.mean(self._mask(where)))

    def entries(self, measure: Measure, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many different values slices of this length hold, for every event that came; 1 where unknown."""
        name = self.values.get(measure.arguments[0])
        if name is None:
            return 1.0
        value, keys = self.events.values[name], self._keys(group_by)
        counts = self._mask(measure.where) & (True if value.valid is None else value.valid)
        cells = find_cells(((slide, 0),), self.events.times[counts], keys.codes[counts], keys.distinct.num_rows)
        codes = np.unique(order_codes(value.numbers)[counts], return_inverse=True)[1]
        entries = np.unique(cells.cell * (int(codes.max(initial=0)) + 1) + codes)
        return len(entries) / len(self.events.times)

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """Count how the events that pass the predicates fall into the tree's shards."""
        question = (tree.group_by, tree.edges(), tuple(wheres))
        if question not in self.answered:
            self.answered[question] = self._passing(*question)
        return self.answered[question]

    def _passing(self, group_by: tuple[str, ...], edges: Edges, wheres: Sequence[str]) -> Passing:
        tests = [where for where in wheres if where]
        keys = sign_keys(self._keys(group_by), self.events.signatures_of([self.names[test] for test in tests]))
        passes = np.logical_or.reduce([self._mask(where) for where in wheres])
        cells = find_cells(edges, self.events.times[passes], keys.codes[passes], keys.distinct.num_rows)
        passed = unpack_signatures(keys.distinct[SIGNATURE], len(tests))[cells.code]
        count, shards = len(self.events.times), len(cells.code)
        folded = {test: float(passed[:, bit].sum()) / count for bit, test in enumerate(tests)}
        return Passing(
            float(passes.sum()) / count,
            shards / count,
            {where: self.share(where) for where in wheres},
            {**folded, "": shards / count},
        )

    def _keys(self, group_by: tuple[str, ...]) -> Keys:
        if group_by not in self.grouped:
            self.grouped[group_by] = key_codes(self.events.keys.select(list(key_columns(group_by))))
        return self.grouped[group_by]

    def _mask(self, where: str) -> Bools:
        return self.events.predicates[self.names[where]] if where else np.ones(len(self.events.times), np.bool_)


def recent_events(catalog: Catalog, stream: str) -> RecentEvents | None:
    """Return the newest events; None where none can be read, NotExact where that takes Spark."""
    if not catalog.streams[stream].in_parquet:
        raise NotExact(f"stream {stream}")
    return _read_recent(catalog, stream, measuring_program(catalog, stream))


def recent_keys(catalog: Catalog, stream: str, groupings: Iterable[tuple[str, ...]]) -> RecentEvents | None:
    """Return the newest events with some keys alone, which this process reads even where predicates take Spark."""
    if not catalog.streams[stream].in_parquet:
        return None
    keys = tuple(Grouping(names, (), ()) for names in groupings)
    program = replace(measuring_program(catalog, stream), values=(), predicates=(), groupings=keys)
    try:
        return _read_recent(catalog, stream, program)
    except NotExact:
        return None


def _read_recent(catalog: Catalog, stream: str, program: Program) -> RecentEvents | None:
    try:
        tables, cuts = _newest(catalog.streams[stream], program)
        if not tables:
            return None
        events = events_from(pa.concat_tables(tables, promote_options="permissive"), program)
    except (HeddleError, OSError, pa.ArrowInvalid):  # the evaluation will complain where it has to
        return None
    if not len(events.times):
        return None
    whole = sum(table.num_rows for table in tables) == len(events.times)  # none without a time
    names, values = ({each.sql: each.name for each in inputs} for inputs in (program.predicates, program.values))
    in_files = _count_in_files(catalog.streams[stream])
    return RecentEvents(events, names, cuts=cuts if whole else (), values=values, in_files=in_files)


def _count_in_files(source: Stream) -> tuple[int, ...]:
    """Return the events of each of the newest files, by their footers; none where a footer cannot be read."""
    try:
        return tuple(_count_rows(file.path) for file in list_input_files(source)[-NEWEST:])
    except (HeddleError, OSError, pa.ArrowInvalid):
        return ()


def _count_rows(path: str) -> int:
    with open_parquet(path) as file:
        return int(file.metadata.num_rows)


def _newest(source: Stream, program: Program) -> tuple[list[pa.Table], tuple[int, ...]]:
    """Return the first events of each of the newest files, which may hold a key or a machine each, and the places
    where events were left out."""
    tables: list[pa.Table] = []
    cuts: list[int] = []
    # what a small file leaves goes to the others
    arrived = list_input_files(source)
    files = sorted(arrived[-NEWEST:], key=lambda file: file.size)
    by_folder = folder_types(source, arrived)
    if BY_SPARK in by_folder.values():
        raise NotExact(f"stream {source.name}")
    table = table_columns(source)
    types = dict(table.types) if table else {name: ARROW[kind] for name, kind in by_folder.items()}
    program = replace(program, root=folder_root(source), columns=types, table=table)
    left = MOST
    for number, file in enumerate(files):
        share = left // (len(files) - number)
        for table in read_split(split_of(file), program):
            rows = min(share, table.num_rows)
            tables.append(with_inputs(table.slice(0, rows), program))
            share, left = share - rows, left - rows
            if not share:
                cuts.append(MOST - left)
                break
    return tables, tuple(cuts)


def measuring_program(catalog: Catalog, stream: str) -> Program:
    """Return a program that evaluates keys, predicates and counted columns of a stream, and folds nothing."""
    table = catalog.of_stream(stream)
    shapes = [table.shapes[code] for code in np.unique(table.codes).tolist()]  # the table knows those of all streams
    wheres = sorted({measure.where for shape in shapes for measure in demands_of(shape)} - {""})
    groupings = sorted({shape.group_by for shape in shapes})
    measures = (measure for shape in shapes for measure in measures_of(shape) if measure.component == "value_counts")
    values = sorted({measure.arguments[0] for measure in measures if plain(measure.arguments[0])})
    return Program(
        catalog.streams[stream].time,
        tuple(Input(f"__v{number}", value) for number, value in enumerate(values)),
        tuple(Input(f"__p{number}", where) for number, where in enumerate(wheres)),
        tuple(Grouping(keys, (), ()) for keys in groupings),
        0,
        "",
        {},
        {},
        zone=catalog.streams[stream].zone,
    )


def activity_curve(times: FloatArray, codes: Ints, rate: float) -> Curve:
    """Return spans of time in seconds and the keys that have an event in them, at so many events per second.

    A window of length t holds an event of a key unless it lies inside of one of the key's gaps. So the keys that have
    an event in it are, on average, rate * E[min(gap, t)], whatever the keys' rates and however they come. The gaps
    behind the last events are known to be longer than what was measured, no more (Kaplan and Meier, 1958); beyond the
    longest gap that was measured, gaps end at the mean rate.

    Two keys, each with an event every 4 seconds: a second holds half a key, four seconds hold both.

    >>> times = np.arange(0, 4000, 2.0)
    >>> curve = dict(activity_curve(times, np.arange(2000) % 2, rate=0.5))
    >>> round(float(np.interp(1.0, list(curve), list(curve.values()))), 2), round(max(curve.values()), 2)
    (0.5, 2.0)
    """
    order = np.lexsort((times, codes))
    times, codes = times[order], codes[order]
    ended = np.append(codes[1:] == codes[:-1], False)  # the last event of a key has no gap that is known to end
    until = np.append(times[1:], 0.0)
    gaps = np.where(ended, until - times, times.max() - times)
    return _integrate(gaps, ended, rate)


def _integrate(gaps: FloatArray, ended: np.ndarray[tuple[int], np.dtype[np.bool_]], rate: float) -> Curve:
    order = np.lexsort((~ended, gaps))
    gaps, ended = gaps[order], ended[order]
    at_risk = np.arange(len(gaps), 0, -1)
    surviving = np.cumprod(np.where(ended, 1 - 1 / at_risk, 1.0))  # the share of gaps that are longer
    before = np.concatenate([[1.0], surviving[:-1]])
    longer = np.cumsum(before * np.diff(gaps, prepend=0.0))  # E[min(gap, t)] at every t that is a gap
    last_end = int(np.flatnonzero(ended)[-1]) if ended.any() else 0
    hazard = max(int(ended.sum()), 1) / max(float(gaps.sum()), 1e-9)
    spans = np.unique(np.geomspace(max(gaps[last_end] / 1e4, 1e-6), max(gaps[last_end], 1e-6), POINTS))
    inside = np.interp(spans, np.concatenate([[0.0], gaps]), np.concatenate([[0.0], longer]))
    beyond = np.geomspace(0.1, 30.0, 12) / hazard
    tail = inside[-1] + surviving[last_end] / hazard * -np.expm1(-beyond)
    points = [*zip(spans, inside, strict=True), *zip(spans[-1] + beyond, tail, strict=True)]
    return tuple((float(span), float(rate * keys)) for span, keys in points)
