"""`heddle catalog`: look at a catalog and find its mistakes, without Spark."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jobs.host.command_line import Folder
from optimizer.plan.explain import counted

if TYPE_CHECKING:
    from optimizer.catalog.model.catalog import Catalog
    from optimizer.catalog.model.query import Query

catalog = typer.Typer(no_args_is_help=True, help="Check a catalog and show what is in it.")

LISTED = 200


@catalog.command()
def check(folder: Folder) -> None:
    """Find every mistake of a catalog; columns and types too, where the events are there to be read."""
    from optimizer.catalog.read.load import check_catalog

    report = check_catalog(folder)
    console = _console()
    console.print(f"{folder}: {_counts(report.catalog)}, no mistakes")
    for stream, reason in report.unread.items():
        console.print(f"{stream}: columns and types not checked, {reason}")
    console.print(f"Next: heddle catalog show {folder}", style="dim")


@catalog.command()
def show(folder: Folder) -> None:
    """Print a catalog's queries, stream by stream."""
    from optimizer.catalog.read.load import load_catalog

    loaded = load_catalog(folder)
    console = _console()
    for stream in loaded.streams:
        console.print(_table(loaded, stream))
    console.print(f"{_counts(loaded)}. Next: heddle plan {folder}", style="dim")


def _console() -> Console:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has no width of its own
    return console


def _counts(loaded: Catalog) -> str:
    counts = {"stream": len(loaded.streams), "statement": len(loaded.statements)}
    named = ", ".join(f"{count:,} {name if count == 1 else name + 's'}" for name, count in counts.items())
    return f"{named}, {counted(len(loaded.queries))}"


def _table(loaded: Catalog, stream: str) -> Table:
    table = Table(title=f"{stream}: {counted(len(loaded.of_stream(stream)))}", box=SIMPLE_HEAD, title_justify="left")
    table.add_column("statement", no_wrap=True)
    for name in ("selects", "range / slide", "where", "by", "woven"):
        table.add_column(name, overflow="fold")
    queries = loaded.of_stream(stream)
    for statement, group in groupby(queries[:LISTED], key=attrgetter("statement")):
        table.add_row(*map(Text, _row(statement, list(group))))
    if len(queries) > LISTED:
        table.caption = f"the first {LISTED}"
    return table


def _row(statement: str, queries: list[Query]) -> tuple[str, ...]:
    from optimizer.algebra.aggregates import AGGREGATES
    from optimizer.catalog.model.catalog import user_aggregate
    from optimizer.catalog.sql.durations import print_length

    query, window = queries[0], queries[0].window
    lengths = " / ".join(print_length(ticks, window.rows) for ticks in (window.range, window.slide))
    shared = dict.fromkeys("shared" if AGGREGATES[query.aggregate].shared else "unshared" for query in queries)
    selects = "\n".join(map(user_aggregate, queries))
    return statement, selects, lengths, query.where, ", ".join(query.group_by), ", ".join(shared)
