"""Partials for tests of finals: what a feed task sends to the one bucket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.program.program import Grouping, Program, TreeProgram
from jobs.engine.slices.exchange import unpack_parcels
from jobs.engine.work import Work
from optimizer.windows.window import BEGINNING
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world


def event(second: int, key: str, n: int | None) -> dict[str, Any]:
    """An event at a second; n is what queries fold, s its text."""
    return odd_row(second * SECOND, 0) | {"k": key, "n": n, "s": f"at {second}", "x": 1.5}


def partials_of(
    folder: Path, events: list[dict[str, Any]], queries: list[dict[str, Any]], technique: str = "two_stacks_block"
) -> tuple[Program, dict[str, list[pa.Table]]]:
    """Compile the queries into shared trees and feed the events into their partials, by label."""
    world = make_world(folder, [events], queries, 0)
    program = world.program(world.plan("shared", technique))
    (file,) = world.files
    work = Work(str(folder / "warehouse"), 0, BEGINNING, BEGINNING, 1)
    _, parcels = feed_splits(program, work, [Split(str(file), file.stat().st_size)])
    return program, unpack_parcels(parcel.content for parcel in parcels)


def only_root(program: Program) -> tuple[Grouping, TreeProgram]:
    """The one tree of a program."""
    (root,) = program.roots()
    return root
