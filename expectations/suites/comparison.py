"""The engine's answers beside those of plain Spark."""

from __future__ import annotations

import math
from typing import Any

import great_expectations.expectations as gxe
import pandas as pd

from expectations.sides.row import OPEN, SCALE, Sides, answer_text, window_text
from expectations.suites.suite import RTOL, ExpectColumnPairValuesToAgree, Suite

ROUNDING = 1e-13  # of the numbers that were added up
BOTH, OURS, SPARKS = "both", "Heddle only", "Spark only"
COLUMNS = ("query", "key", "window", "side", "ours", "spark", "our_text", "spark_text", "our_number", "spark_number")
Row = dict[str, Any]


def pair_answers(sides: Sides) -> pd.DataFrame:
    """Return both answers side by side, also where a key or a window is null.

    Where Spark is free to choose, its answer is replaced by the engine's: which of the events that tie, and the last
    digits of a sum, which depend on the order of addition.
    """
    by_place: dict[tuple[Any, ...], list[Row | None]] = {}
    for row in _records(sides.naive):
        by_place.setdefault(_place(row), []).append(row)
    lines, paired = [], set()
    for row in _records(sides.ours):
        paired.add(_place(row))
        lines += [_line(row, sparks) for sparks in by_place.get(_place(row), [None])]
    lines += [_line(None, row) for place, rows in by_place.items() if place not in paired for row in rows]
    return pd.DataFrame(lines, columns=list(COLUMNS), dtype=object)


def _records(rows: pd.DataFrame) -> list[Row]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _place(row: Row) -> tuple[Any, ...]:
    return row["query"], row["key"], row["start"]


def _line(ours: Row | None, sparks: Row | None) -> Row:
    place = ours or sparks or {}
    line = {"query": place["query"], "key": place["key"]}
    line["window"] = window_text(place["start"], place["end"], place["rows"])
    line["side"] = BOTH if ours and sparks else OURS if ours else SPARKS
    line["ours"] = answer_text(ours["text"], ours["number"]) if ours else "no row"
    line["spark"] = answer_text(sparks["text"], sparks["number"]) if sparks else "no row"
    if ours and sparks:
        text = ours["text"] if ours["text"] in (sparks[OPEN] or ()) else sparks["text"]
        number = ours["number"] if _is_rounding(ours["number"], sparks) else sparks["number"]
        line |= {"spark": answer_text(text, number), "our_text": ours["text"], "spark_text": text}
        line |= {"our_number": ours["number"], "spark_number": number}
    return line


def _is_rounding(number: float | None, sparks: Row) -> bool:
    theirs, scale = sparks["number"], sparks[SCALE]
    if number is None or theirs is None or scale is None or not math.isfinite(scale):
        return False
    return bool(abs(number - theirs) <= ROUNDING * scale)


COMPARISON = Suite(
    pair_answers,
    ("query", "key", "window", "ours", "spark"),
    {
        "same rows on both sides": gxe.ExpectColumnValuesToBeInSet(
            column="side", value_set=[BOTH], description="a row must be there on both sides"
        ),
        "exact answers equal": ExpectColumnPairValuesToAgree(
            column_A="our_text",
            column_B="spark_text",
            description="the answer must equal Spark's, a missing value only a missing one",
        ),
        "float answers close": ExpectColumnPairValuesToAgree(
            column_A="our_number",
            column_B="spark_number",
            rtol=RTOL,
            description=f"the number must equal Spark's within {RTOL} of it, NaN only NaN",
        ),
    },
)
