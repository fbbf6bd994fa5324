"""Random statements of several queries each, and how their answers are held against Spark's for the same text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from optimizer.algebra.aggregates import AGGREGATES
from tests.jobs.engine.questions import EXACT, OPEN, Question, questions
from tests.jobs.engine.row_questions import RowQuestion, questions_in_rows
from tests.oracle.naive_aggregates import Event, same
from tests.worlds.streams import Row, ticks
from tests.worlds.warehouse import STREAM

ONLY_IN_FIELDS = {"product"}  # what Spark has no name for
SEVERAL = {"range", "geometric_mean"}  # of Spark's functions, so that none of them takes a FILTER
UNSHARED = {"count_distinct_rows": ("s", "k"), "percentile_by_frequency": ("x", "0.5, 2")}
Place = tuple[Any, ...]  # keys and window start


@dataclass(frozen=True)
class Stated:
    """Queries of the same keys, predicate and window in one statement, which the catalog has as SQL or in fields."""

    asked: tuple[Question, ...]
    in_sql: bool

    @property
    def first(self) -> Question:
        """Any of its queries, where all are alike."""
        return self.asked[0]

    def entry(self, id: str) -> dict[str, Any]:
        """The catalog's entry."""
        if self.in_sql:
            return {"id": id, "sql": self.text()}
        return self.first.entry(id) | {"select": [f"{asked.call} AS c{n}" for n, asked in enumerate(self.asked)]}

    def text(self) -> str:
        """The statement as its user wrote it, which is plain Spark SQL."""
        calls = [
            AGGREGATES[q.aggregate].spark.format(x=q.x, y=q.y, ts="ts", arguments=f"{q.x}, {q.y}")
            + (f" FILTER (WHERE {q.only})" if q.only else "")
            for q in self.asked
        ]
        columns = [*self.first.group_by, "window", *(f"{call} AS c{n}" for n, call in enumerate(calls))]
        window = self.first.window
        lengths = ", ".join(f"'{ticks} microseconds'" for ticks in (window.range, window.slide, window.offset))
        where = f" WHERE {self.first.where}" if self.first.where else ""
        keys = ", ".join([*self.first.group_by, f"window(ts, {lengths})"])
        return f"SELECT {', '.join(columns)} FROM {STREAM}{where} GROUP BY {keys}"

    def compare(self, ours: pa.Table, theirs: pa.Table, events: Sequence[Row], until: int) -> int:
        """Every row and every value of Spark's, and no other row."""
        in_rows = self.first.window.rows
        found, expected = self._placed(ours), self._placed(theirs)
        if not in_rows:
            expected = {p: values for p, values in expected.items() if p[-1] + self.first.window.range <= until}
        assert found.keys() == expected.keys(), (self, found.keys() ^ expected.keys())
        held = self.first.windows(events) if isinstance(self.first, RowQuestion) else self.first.held(events)
        for place, values in expected.items():
            rows = held[place[:-1], place[-1]]
            for asked, our, their in zip(self.asked, found[place], values, strict=True):
                assert agree(asked, rows, our, their), (asked, place, our, their, rows)
        return len(found)

    def _placed(self, table: pa.Table) -> dict[Place, list[Any]]:
        placed: dict[Place, list[Any]] = {}
        for row in table.to_pylist():
            place = (*(row[key] for key in self.first.group_by), _number(row["window"]["start"]))
            assert place not in placed, (self, place)
            placed[place] = [_number(row[f"c{n}"]) for n in range(len(self.asked))]
        return placed


def agree(asked: Question, rows: Sequence[Event], ours: Any, theirs: Any) -> bool:
    """Whether both are the same answer; where events tie, both are right ones."""
    if asked.aggregate in OPEN:
        return asked.fits(rows, ours) and asked.fits(rows, theirs)
    if asked.aggregate in EXACT or not isinstance(theirs, float):
        return same(ours, theirs)
    return same(ours, theirs, asked.rounding(rows))


def _number(value: Any) -> Any:
    return ticks(value) if isinstance(value, datetime) else value


@st.composite
def statements(draw: st.DrawFn, technique: str = "auto", in_rows: bool = False) -> Stated:
    """Any statement that the technique can answer."""
    drawn: Iterable[Question] = draw(st.lists(questions(technique), min_size=2, max_size=5))
    first: Question = draw(questions_in_rows(technique)) if in_rows else next(iter(drawn))
    asked = tuple(
        replace(
            first, aggregate=each.aggregate, x=each.x, y=each.y, only="" if each.aggregate in SEVERAL else each.only
        )
        for each in drawn
    )
    in_sql = not in_rows and not {each.aggregate for each in asked} & ONLY_IN_FIELDS and draw(st.booleans())
    return Stated(asked, in_sql)


@st.composite
def unshared(draw: st.DrawFn) -> Stated:
    """A statement that only plain Spark answers."""
    first = draw(questions())
    names = draw(st.lists(st.sampled_from(list(UNSHARED)), min_size=1, max_size=2, unique=True))
    asked = (replace(first, aggregate=name, x=UNSHARED[name][0], y=UNSHARED[name][1]) for name in names)
    return Stated(tuple(asked), False)


@st.composite
def catalogs(draw: st.DrawFn, technique: str = "auto") -> dict[str, Stated]:
    """Windows in time, windows in rows and unshared queries, side by side."""
    found = draw(st.lists(statements(technique), min_size=6, max_size=10))
    found += draw(st.lists(statements(technique, in_rows=True), min_size=1, max_size=2))
    found.append(draw(unshared()))
    return {f"s{number}": stated for number, stated in enumerate(found)}
