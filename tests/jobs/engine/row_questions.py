"""Windows in rows by the slow and obvious way: number the rows, then cut them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import PREDICATES
from tests.jobs.engine.questions import Question, questions
from tests.jobs.engine.runs import Answers
from tests.oracle.naive import key_of, starts
from tests.worlds.streams import Row
from tests.worlds.warehouse import STREAM


@dataclass(frozen=True)
class RowQuestion(Question):
    """A query whose window counts rows."""

    def entry(self, id: str) -> dict[str, Any]:
        """The catalog's entry."""
        entry = {**super().entry(id), "stream": STREAM}
        lengths = {"range": self.window.range, "slide": self.window.slide, "offset": self.window.offset}
        return entry | {name: f"{length} rows" for name, length in lengths.items() if length or name != "offset"}

    def windows(self, settled: Sequence[Row]) -> dict[tuple[tuple[Any, ...], int], list[Row]]:
        """The rows of every window that is full, or would be but for the beginning of the stream."""
        passes = PREDICATES.get(self.where, lambda row: True)
        counts: dict[tuple[Any, ...], int] = {}
        held: dict[tuple[tuple[Any, ...], int], list[Row]] = {}
        for row in settled:
            if passes(row):
                key = key_of(row, self.group_by)
                number = counts.get(key, 0)
                counts[key] = number + 1
                for start in starts(number, self.window):
                    held.setdefault((key, start), []).append(row)
        return {place: rows for place, rows in held.items() if place[1] + self.window.range <= counts[place[0]]}


def in_order(batches: Sequence[Sequence[Row]], until: int) -> list[Row]:
    """The settled events in event time, those of the same time as they arrived."""
    arrived = [row for batch in batches for row in batch if row["ts"] is not None and row["ts"] <= until]
    return sorted(arrived, key=lambda row: row["ts"])


def check_rows(asked: dict[str, RowQuestion], settled: Sequence[Row], found: Answers) -> None:
    """Every window is there with a right value, and nothing else is."""
    for id, question in asked.items():
        held = question.windows(settled)
        assert found[id].keys() == held.keys(), (id, question, found[id].keys() ^ held.keys())
        for place, rows in held.items():
            assert question.fits(rows, found[id][place]), (id, question, place, found[id][place], rows)


@st.composite
def questions_in_rows(draw: st.DrawFn, technique: str = "auto") -> RowQuestion:
    """Any query, its window in rows."""
    asked = draw(questions(technique))
    slide = draw(st.sampled_from([1, 2, 3, 5]))
    longer = draw(st.sampled_from([0, 1, 2, 4, 11]))
    window = Window(slide + longer, slide, draw(st.sampled_from([0, 0, 1])) % slide, rows=True)
    return RowQuestion(asked.aggregate, asked.x, asked.y, asked.where, asked.group_by, window, asked.only)
