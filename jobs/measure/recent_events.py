"""What a stream's newest events say of its keys and predicates, for the planner."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from jobs.engine.events.columns import Events, events_from
from jobs.engine.events.expressions import NotExact
from jobs.engine.events.keys import Keys, key_codes
from jobs.engine.events.parquet import Split, read_split, with_inputs
from jobs.engine.events.signatures import SIGNATURE, sign_keys, unpack_signatures
from jobs.engine.program.program import ALL, Grouping, Input, Program
from jobs.engine.slices.cells import find_cells
from jobs.engine.warehouse.input_files import list_input_files
from jobs.kernels.arrays import Bools
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from optimizer.plan.definition import Tree
from optimizer.planning.recent import Passing
from optimizer.windows.edges import Edges

NEWEST = 8  # files
MOST = 1 << 18  # events
SECOND = 1_000_000


@dataclass(frozen=True)
class RecentEvents:
    """Some events, and the names under which they hold the predicates. Answers are remembered."""

    events: Events
    names: dict[str, str]
    grouped: dict[tuple[str, ...], Keys] = field(default_factory=dict)
    answered: dict[Hashable, Passing] = field(default_factory=dict)

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

    def share(self, where: str) -> float:
        """Return the share of events that pass a predicate; all pass ""."""
        return float(np.mean(self._mask(where)))

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
            self.grouped[group_by] = key_codes(self.events.keys.select(list(group_by or (ALL,))))
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
    program = replace(measuring_program(catalog, stream), predicates=(), groupings=keys)
    return _read_recent(catalog, stream, program)


def _read_recent(catalog: Catalog, stream: str, program: Program) -> RecentEvents | None:
    try:
        tables = _newest(catalog.streams[stream].path, program)
        if not tables:
            return None
        events = events_from(pa.concat_tables(tables, promote_options="permissive"), program)
    except (HeddleError, OSError, pa.ArrowInvalid):  # the evaluation will complain where it has to
        return None
    return RecentEvents(events, {test.sql: test.name for test in program.predicates}) if len(events.times) else None


def _newest(path: str, program: Program) -> list[pa.Table]:
    """Return the first events of each of the newest files: these may hold a key or a machine each."""
    tables: list[pa.Table] = []
    # what a small file leaves goes to the others
    files = sorted(list_input_files(path)[-NEWEST:], key=lambda file: file[1])
    left = MOST
    for number, (name, size) in enumerate(files):
        share = left // (len(files) - number)
        for table in read_split(Split(name, size), program):
            rows = min(share, table.num_rows)
            tables.append(with_inputs(table.slice(0, rows), program))
            share, left = share - rows, left - rows
            if not share:
                break
    return tables


def measuring_program(catalog: Catalog, stream: str) -> Program:
    """Return a program that evaluates all keys and predicates of a stream, and folds nothing."""
    table = catalog.of_stream(stream)
    shapes = [table.shapes[code] for code in np.unique(table.codes).tolist()]  # the table knows those of all streams
    wheres = sorted({shape.where for shape in shapes} - {""})
    groupings = sorted({shape.group_by for shape in shapes})
    return Program(
        catalog.streams[stream].time,
        (),
        tuple(Input(f"__p{number}", where) for number, where in enumerate(wheres)),
        tuple(Grouping(keys or (ALL,), (), ()) for keys in groupings),
        0,
        "",
        {},
        {},
    )
