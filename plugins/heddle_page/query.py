"""One query, opened: a larger chart of its windows, the numbers as a table, its SQL, and everything the list has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.statements import published_files
from jobs.host.settings import Settings
from optimizer.catalog.model.query import Statement
from optimizer.errors import HeddleError, did_you_mean
from plugins.heddle_page.page import MissingError, Page, read_page
from plugins.heddle_page.read.answers import key_text, recent_files, spark_points
from plugins.heddle_page.read.catalogs import catalog_of
from plugins.heddle_page.view.queries import LARGE, QueryRow, number_text

WINDOWS = 120  # of every key that the chart shows
KEYS = 8  # lines of the chart
ROWS = 200  # of the table, the newest
LINES = 8  # colours


@dataclass(frozen=True)
class Line:
    """One key in the chart, or one column of a statement that has several."""

    name: str
    points: str
    colour: int


@dataclass(frozen=True)
class QueryChart:
    """Lines, the values at the chart's top and bottom, and the windows at its sides."""

    lines: list[Line]
    high: str
    low: str
    first: str
    last: str
    keys: int  # that there are


@dataclass
class QueryPage:
    """A query with its newest rows."""

    page: Page
    row: QueryRow
    sql: str
    columns: list[str]
    rows: list[list[str]]
    chart: QueryChart | None

    @property
    def notes(self) -> list[str]:
        """What could not be read."""
        return self.page.notes

    @property
    def stream(self) -> str:
        """The stream that it is over."""
        return self.page.stream


def read_query(settings: Settings, stream: str, id: str) -> QueryPage:
    """Read one query of a stream; raise an error when there is none of the name."""
    page = read_page(settings, stream)
    row = next((row for row in page.queries if row.id == id), None)
    catalog, _ = catalog_of(settings)
    if row is None or catalog is None:
        hint = did_you_mean(id, [each.id for each in page.queries], "the page of the stream lists its queries")
        raise MissingError(f"stream {stream} has no query {id!r}; {hint}")
    statement = catalog.statements[id]
    try:
        answers = read_answers(recent_files(published_files(settings.warehouse, catalog, id))).to_pylist()
    except (HeddleError, OSError):
        answers = []
    window = [column.name for column in statement.columns if column.kind == "window"]
    columns = [column.name for column in statement.columns]
    rows = [[_text(answer[name]) for name in columns] for answer in reversed(answers[-ROWS:])]
    return QueryPage(page, row, statement.sql, columns, rows, _chart(statement, answers, window))


def _chart(statement: Statement, answers: Sequence[dict[str, Any]], window: list[str]) -> QueryChart | None:
    """Place the newest windows of the first keys; a statement of several aggregates shows its first one."""
    keys = [column.name for column in statement.columns[:-1] if column.name not in window]
    value = statement.columns[-1].name
    series: dict[str, list[tuple[str, float | None]]] = {}
    for answer in answers:
        name = key_text(answer[key] for key in keys) or value
        series.setdefault(name, []).append((_end(answer, window), _number(answer[value])))
    names = sorted(series, key=lambda name: (len(name), name))[:KEYS]
    newest = {name: series[name][-WINDOWS:] for name in names}
    numbers = [number for points in newest.values() for _, number in points if number is not None]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    lines = [_line(place, name, [number for _, number in newest[name]], low, high) for place, name in enumerate(names)]
    first, last = next(iter(newest.values()))[0][0], next(iter(newest.values()))[-1][0]
    return QueryChart(lines, number_text(high), number_text(low), first, last, len(series))


def _line(place: int, name: str, numbers: list[float | None], low: float, high: float) -> Line:
    width, height = LARGE
    # both bounds, so that every line has the same scale; they are not drawn
    points = spark_points([*numbers, low, high], width * (len(numbers) + 1) / max(len(numbers) - 1, 1), height)
    beginning = points[: sum(number is not None and number == number for number in numbers)]
    return Line(name, " ".join(f"{x},{y}" for x, y in beginning), place % LINES)


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _end(answer: dict[str, Any], window: list[str]) -> str:
    if not window:
        return ""
    value = answer[window[-1]]
    return _text(value["end"] if isinstance(value, dict) else value)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return f"{_text(value['start'])} to {_text(value['end'])[-8:]}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "null" if value is None else str(value)
