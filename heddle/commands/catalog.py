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
from optimizer.plan.explain import counted, short_length

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
    queries = loaded.of_stream(stream)
    rows = [_row(id, list(group)) for id, group in groupby(queries[:LISTED], key=attrgetter("statement"))]
    table.add_column("statement", no_wrap=True)
    table.add_column("asks", overflow="fold")
    table.add_column("range / slide", no_wrap=True)
    if any("unshared" in row[-1] for row in rows):
        table.add_column("woven")
    for row in rows:
        table.add_row(*map(Text, row[: len(table.columns)]))
    if len(queries) > LISTED:
        table.caption = f"the first {LISTED}"
    return table


def _row(statement: str, queries: list[Query]) -> tuple[str, ...]:
    from optimizer.algebra.aggregates import AGGREGATES
    from optimizer.catalog.model.catalog import user_aggregate

    query, window = queries[0], queries[0].window
    sizes = (f"{ticks} rows" if window.rows else short_length(ticks) for ticks in (window.range, window.slide))
    lengths = " / ".join(sizes)
    shared = dict.fromkeys("shared" if AGGREGATES[query.aggregate].shared else "unshared" for query in queries)
    asks = [*map(user_aggregate, queries)]
    where, by = (
        f"where {query.where}" if query.where else "",
        f"by {', '.join(query.group_by)}" if query.group_by else "",
    )
    if where or by:
        asks.append(" ".join(filter(None, (where, by))))
    return statement, (" " if len(queries) == 1 else "\n").join(asks), lengths, ", ".join(shared)
