"""The plans of an episode's stream: few queries, woven in several ways, so that slices are taken over and made anew."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program, QueryProgram, TreeProgram
from jobs.engine.slices.exchange import label
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream

STREAM, LATENESS = "events", 3
WINDOWS = {"a": (10, 5), "b": (6, 3)}  # ranges and slides, in microseconds
LATER = {"c": (20, 10)}  # a query that joins while the stream runs
STRATEGIES = ("no_share", "shared")  # slices of the second hold those of the first, not the other way round
TIME = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Planned:
    """A catalog with its plan, compiled."""

    catalog: Catalog
    plan: Plan
    program: Program

    @property
    def trees(self) -> list[tuple[str, TreeProgram]]:
        """The trees that keep slices, by their labels."""
        return [(label(grouping, tree), tree) for grouping, tree in self.program.roots()]

    def with_sinks(self, sinks: tuple[object, ...]) -> Catalog:
        """Return the catalog when the answers are wanted elsewhere."""
        stream = replace(self.catalog.streams[STREAM], sinks=sinks)  # type: ignore[arg-type]
        return replace(self.catalog, streams={STREAM: stream})


@cache
def plans(with_later: bool) -> tuple[Planned, ...]:
    """Return the plans of the first queries, or those in which another one has joined."""
    windows = WINDOWS | LATER if with_later else WINDOWS
    queries = [
        {
            "id": id,
            "stream": STREAM,
            "select": "count(*)",
            "range": f"{size} microseconds",
            "slide": f"{slide} microseconds",
        }
        for id, (size, slide) in windows.items()
    ]
    source = {"format": "parquet", "path": "in"}
    stream = {"source": source, "time": "ts", "lateness": _length(LATENESS)}
    with TemporaryDirectory() as folder:
        document = {"streams": {STREAM: stream}, "queries": queries}
        (Path(folder) / "catalog.yaml").write_text(json.dumps(document))
        catalog = load_catalog(folder)
    return tuple(_compile(catalog, strategy) for strategy in STRATEGIES)


def _length(size: int) -> str:
    return f"{size} microseconds"


def _compile(catalog: Catalog, strategy: str) -> Planned:
    plan = plan_stream(catalog, STREAM, 0.4, strategy, "two_stacks_block")
    return Planned(catalog, plan, compile_program(catalog, plan, {"ts": TIME, "`ts`": TIME}))


def queries_of(program: Program) -> list[QueryProgram]:
    """Return all queries of a program."""
    return [query for grouping in program.groupings for tree in grouping.trees for query in tree.queries]


def windows_of(query: QueryProgram, time: int) -> list[int]:
    """Return the starts of a query's windows that hold a time."""
    size, slide = query.window.range, query.window.slide
    last = time // slide * slide
    return list(range(last, time - size, -slide))[::-1]
