"""Random questions: queries over the odd events, with what each means to the oracle."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.algebra.techniques import allowed
from optimizer.windows.window import Window
from tests.jobs.engine.oracle_expressions import AGGREGATED, EVERYTHING, NUMBERS, PREDICATES
from tests.jobs.engine.runs import Answers
from tests.oracle import naive
from tests.oracle.naive_aggregates import BY_ORDER, BY_SPARK, OF_PAIRS, OF_SHARES, Event, choices, same
from tests.worlds.streams import KEYS, SECOND, Row
from tests.worlds.warehouse import query

TOLERANCE = 1e-9
EXACT = {*BY_SPARK, "count", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor"}
EXACT |= {*OF_SHARES, "count_distinct", "median"}
RATIOS = {
    "skewness": 3,
    "kurtosis": 4,
    "corr": 2,
    "regr_r2": 4,
}  # and their power
LINES = {"regr_slope", "regr_intercept"}
EPSILON = sys.float_info.epsilon
# next to an infinity they are no numbers: which of them, and whether it is one, depends on the order Spark adds in
AROUND_MEANS = {"covar_pop", "covar_samp", "corr", "regr_sxy", "regr_slope", "regr_intercept", "regr_r2"}
OPEN = {*BY_ORDER, "mode"}  # where events tie
SHARES = ["0.5", "0.0", "0.37", "0.9", "1.0"]
SPARK_ONLY = {"geometric_mean", *BY_SPARK}  # its logarithm is Spark's to take


@dataclass(frozen=True)
class Question:
    """One query: what the catalog says, what the oracle needs."""

    aggregate: str
    x: str
    y: str
    where: str
    group_by: tuple[str, ...]
    window: Window
    only: str = ""  # its FILTER

    @property
    def call(self) -> str:
        """The aggregate as the catalog writes it."""
        call = f"{self.aggregate}({f'{self.x}, {self.y}' if self.y else self.x})"
        return f"{call} FILTER (WHERE {self.only})" if self.only else call

    def entry(self, id: str) -> dict[str, Any]:
        """The catalog's entry."""
        more: dict[str, Any] = {"where": self.where} if self.where else {}
        if self.group_by:
            more["group_by"] = list(self.group_by)
        window = self.window
        return query(id, self.call, window.range, window.slide, offset=window.offset, **more)

    def held(self, events: Sequence[Row]) -> dict[tuple[tuple[Any, ...], int], list[Event]]:
        """The events of every window."""
        return naive.contents(events, self.window, self.group_by, PREDICATES.get(self.where))

    def fits(self, rows: Sequence[Event], found: Any) -> bool:
        """Whether a value is a right answer for a window that holds these rows."""
        x = "*" if self.x == "*" else EVERYTHING[self.x]
        rows = [row for row in rows if PREDICATES[self.only](row)] if self.only else rows
        if self.aggregate in BY_SPARK:
            return isinstance(found, int)
        if self.aggregate in OPEN:
            order = EVERYTHING[self.y] if self.y else "ts"
            return any(same(found, value) for value in choices(rows, self.aggregate, x, order))
        y = self.y if self.aggregate in OF_SHARES else EVERYTHING.get(self.y, "y")
        expected = naive.aggregate_of(rows, self.aggregate, x, y)
        if self.aggregate in AROUND_MEANS and isinstance(expected, float) and math.isnan(expected):
            return found is None or not math.isfinite(found)
        if self.aggregate in EXACT or isinstance(expected, int | None):
            return same(found, expected)
        return same(found, expected, self.rounding(rows))

    def rounding(self, rows: Sequence[Event]) -> float:
        """Float sums may differ by what cancels: Spark's own differ with the order of its rows."""
        values = [EVERYTHING[name](row) for row in rows for name in (self.x, self.y) if name in EVERYTHING]
        if self.aggregate in LINES:
            return self.rounding_of_line(rows)
        if self.aggregate in RATIOS:
            return TOLERANCE * self.condition(rows) ** RATIOS[self.aggregate]
        size = 1 + sum(abs(value) for value in values if value is not None and math.isfinite(value))
        return TOLERANCE * (size**2 if self.aggregate in ("sum_squares", "var_pop", "var_samp", *OF_PAIRS) else size)

    def rounding_of_line(self, rows: Sequence[Event]) -> float:
        """Bound the error of a slope, and of an intercept, by the digits that its sums lose.

        Each of n steps of a co-moment errs by the rounding of the values, `condition` times what they vary by:
        n * EPSILON * condition of each of both spreads, in all of spread(y) / spread(x)."""
        y, x, yy, xx = (
            naive.aggregate_of(rows, name, EVERYTHING[self.x], EVERYTHING[self.y]) or 0.0
            for name in ("regr_avgy", "regr_avgx", "regr_syy", "regr_sxx")
        )
        lost = 32 * (2 + len(rows)) * EPSILON * self.condition(rows) ** 2
        steepest = math.sqrt(yy / xx) if xx > 0 and math.isfinite(yy) and math.isfinite(xx) else 1.0
        return max(TOLERANCE, lost) * (steepest if self.aggregate == "regr_slope" else abs(y) + steepest * abs(x))

    def condition(self, rows: Sequence[Event]) -> float:
        """How much larger the values are than what they vary by: digits that no float can keep."""
        worst = 1.0
        for name in (self.x, self.y) if self.y else (self.x,):
            values = [float(value) for row in rows if (value := EVERYTHING[name](row)) is not None]
            spread = naive.aggregate_of([{"v": value} for value in values], "stddev_pop", "v")
            if spread and math.isfinite(spread):
                worst = max(worst, max(map(abs, values)) / spread)
        return worst


def second_argument(pick: random.Random, aggregate: str) -> str:
    """What an aggregate of two arguments takes beside its values: a share, or a column."""
    if aggregate in OF_SHARES:
        return pick.choice(SHARES)
    return "n" if AGGREGATES[aggregate].arguments == 2 else ""


def check(asked: dict[str, Question], events: Sequence[Row], until: int | None, found: Answers) -> None:
    """Every window that ended is there with a right value, and nothing else is."""
    for id, question in asked.items():
        held = {
            place: rows
            for place, rows in question.held(events).items()
            if until is not None and place[1] + question.window.range <= until
        }
        assert found[id].keys() == held.keys(), (id, question, found[id].keys() ^ held.keys())
        for place, rows in held.items():
            assert question.fits(rows, found[id][place]), (id, question, place, found[id][place], rows)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    """Slides of half seconds; ranges that are multiples of the slide, and some that are not."""
    slide = draw(st.sampled_from([1, 2, 3, 4, 6, 10])) * SECOND // 2
    rest = draw(st.sampled_from([0, 0, slide // 3, slide - 1]))
    longer = draw(st.sampled_from([1, 1, 2, 5])) * slide + rest
    offset = draw(st.sampled_from([0, 0, 1, slide // 2]))
    return Window(longer, slide, offset)


@st.composite
def questions(draw: st.DrawFn, technique: str = "auto", aggregates: Sequence[str] = ()) -> Question:
    """Any query that the technique can answer."""
    fitting = [name for name in aggregates or _woven() if _answers(technique, name)]
    aggregate = draw(st.sampled_from(fitting))
    x = draw(st.sampled_from(["*", *AGGREGATED["count"]] if aggregate == "count" else list(AGGREGATED[aggregate])))
    orders = list(NUMBERS) if aggregate in OF_PAIRS else [*NUMBERS, "s", "d", "b", "ts"]
    orders = SHARES if aggregate in OF_SHARES else orders
    y = draw(st.sampled_from(orders)) if AGGREGATES[aggregate].arguments == 2 else ""
    where = draw(st.sampled_from(["", "", *PREDICATES]))
    group_by = draw(st.sampled_from([(), ("k",), ("k",), *((key,) for key in KEYS), ("k", "i"), ("b", "d", "k")]))
    only = "" if aggregate in ("first", "last", "any_value") else draw(st.sampled_from(["", "", "", *PREDICATES]))
    return Question(aggregate, x, y, where, group_by, draw(windows()), only)


def _woven() -> list[str]:
    return [name for name, aggregate in AGGREGATES.items() if aggregate.shared and name not in SPARK_ONLY]


def _answers(technique: str, aggregate: str) -> bool:
    needs = AGGREGATES[aggregate].needs
    return technique == "auto" or all(allowed(technique, need.component) for need in needs)
