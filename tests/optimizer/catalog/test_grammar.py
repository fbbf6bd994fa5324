"""Precedence and literals: a text means here what it means to Spark's own parser, whoever evaluates it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.engine.events.expressions import NotExact, evaluate
from optimizer.catalog.spark_types.results import expression_type
from optimizer.catalog.sql.column_names import spark_name
from optimizer.catalog.sql.expressions import expression, parse
from optimizer.errors import Mistake

SCHEMA = pa.schema(
    [(name, pa.bool_()) for name in "bcd"] + [(name, pa.int32()) for name in "ijk"] + [("n", pa.int64())]
)
ROWS = pa.Table.from_pylist(
    [
        {"b": True, "c": False, "d": True, "i": 5, "j": 3, "k": 12, "n": 7},
        {"b": False, "c": True, "d": True, "i": -4, "j": 3, "k": 3, "n": -9},
        {"b": None, "c": True, "d": False, "i": 0, "j": 6, "k": None, "n": None},
        {"b": False, "c": False, "d": None, "i": 7, "j": None, "k": -1, "n": 1},
    ],
    SCHEMA,
)
TYPES = {"b": "boolean", "c": "boolean", "d": "boolean", "i": "int", "j": "int", "k": "int", "n": "bigint"}
INT32 = {"bool": pa.bool_(), "boolean": pa.bool_(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64()}
COMPARISONS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
NUMBERS = ["0", "3", "-1", "- 2", "2147483647", "-2147483648", "2147483648", "1L", "-4L", "1e1", "-2.5E0"]


class Texts:
    """Texts with few brackets, so that their meaning hangs on what binds tighter."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def condition(self, depth: int = 2) -> str:
        """Predicates, connected and negated."""
        parts = [self._negated(depth) for _ in range(self.pick.choice([1, 1, 2, 3]))]
        return "".join(f"{part} {self.pick.choice(['AND', 'OR'])} " for part in parts[:-1]) + parts[-1]

    def number(self, depth: int = 2) -> str:
        """Small numbers, connected by operators of every level."""
        parts = [self._number(depth) for _ in range(self.pick.choice([1, 2, 3, 4]))]
        text = parts[0]
        for part in parts[1:]:
            operator = self.pick.choice(["+", "-", "&", "|", "^", "*", "%", "DIV"])
            text += f" {operator} {self.pick.choice(['3', '(7)', '-2']) if operator in ('%', 'DIV', '*') else part}"
        return text

    def _negated(self, depth: int) -> str:
        return self.pick.choice(["", "", "", "NOT ", "! ", "NOT NOT "]) + self._predicate(depth)

    def _predicate(self, depth: int) -> str:
        shapes: list[Callable[[], str]] = [
            lambda: self._comparison(depth),
            lambda: self._comparison(depth),
            lambda: f"{self._comparison(depth)} IS {self.pick.choice(['NULL', 'NOT NULL', 'TRUE', 'NOT FALSE'])}",
            lambda: f"{self._comparison(depth)} IS NOT DISTINCT FROM {self._comparison(depth)}",
            lambda: f"{self._comparison(depth)} IS DISTINCT FROM {self._comparison(depth)}",
            lambda: f"{self.number(depth)} {self.pick.choice(['', 'NOT '])}BETWEEN {self._number(depth)} AND 9 | 4",
            lambda: f"{self.number(depth)} {self.pick.choice(['', 'NOT '])}IN (3, {self._number(depth)}, 5 - 1)",
        ]
        return self.pick.choice(shapes)()

    def _comparison(self, depth: int) -> str:
        """Comparisons side by side: of truths among each other, of numbers first of all."""
        if self.pick.random() < 0.5:
            text = f"{self.number(depth - 1)} {self.pick.choice(COMPARISONS)} {self._number(depth)}"
        else:
            text = self._truth(depth)
        for _ in range(self.pick.choice([0, 1, 1, 2])):
            text += f" {self.pick.choice(COMPARISONS)} {self._truth(depth)}"
        return text

    def _truth(self, depth: int) -> str:
        if depth and self.pick.random() < 0.15:
            return f"({self.condition(depth - 1)})"
        return self.pick.choice([*"bcd", "TRUE", "false"])

    def _number(self, depth: int) -> str:
        if depth > 0 and self.pick.random() < 0.1:
            return f"CASE WHEN {self.condition(0)} THEN 2 ELSE i END"
        sign = self.pick.choice(["", "", "", "-", "~", "- -", "-~"])
        return f"{sign}{self.pick.choice([*'ijk', '(2)', '4'])}"


def some_texts(count: int) -> list[str]:
    """Half conditions, half numbers; and every literal by itself and in a sum."""
    texts = Texts(7)
    drawn = [texts.condition() if number % 2 else texts.number() for number in range(count)]
    return [*NUMBERS, *(f"{number} - 1" for number in NUMBERS if "-2147483648" not in number), *drawn]


def test_texts_mean_what_they_mean_to_spark(spark: SparkSession) -> None:
    texts = some_texts(320)
    rows = spark.createDataFrame(ROWS)
    asked = [f"{text} AS u{number}" for number, text in enumerate(texts)]
    asked += [f"{expression(text)} AS o{number}" for number, text in enumerate(texts)]
    frame = rows.selectExpr(*asked)
    kinds = dict(frame.dtypes)
    answers = frame.toArrow()
    columns = {name: ROWS[name] for name in ROWS.column_names}
    exact = 0
    for number, text in enumerate(texts):
        theirs, ours = (answers[f"{letter}{number}"].to_pylist() for letter in "uo")
        assert (theirs, kinds[f"u{number}"]) == (ours, kinds[f"o{number}"]), text
        assert expression_type(expression(text), TYPES) in (kinds[f"u{number}"], "unknown"), text
        try:
            value = evaluate(expression(text), columns)
        except NotExact:
            continue
        exact += 1
        assert value.type == INT32[kinds[f"u{number}"]], text
        found = [value.as_py()] * len(ROWS) if isinstance(value, pa.Scalar) else value.to_pylist()
        assert found == theirs, text
    assert exact > 60
    assert max(len(text) for text in texts) > 60


def test_names_are_spark_s_own(spark: SparkSession) -> None:
    texts = [text for text in some_texts(60) if "L" not in text and "NOT" not in text and "!" not in text]
    rows = spark.createDataFrame(ROWS)
    assert [spark_name(parse(text)) for text in texts] == rows.selectExpr(*texts).columns


TEXTS = [r"'it''s'", r"'a' 'b'", r'"a""b"', r"'a\'b'", r"'\\'", r"'\n\t'", r"'\u0041'", r"'a\%b_'", "''''", r"'\101'"]


def test_literals_of_text(spark: SparkSession) -> None:
    (row,) = spark.range(1).selectExpr(*(f"{text} AS t{n}" for n, text in enumerate(TEXTS))).collect()
    (ours,) = spark.range(1).selectExpr(*(f"{expression(text)} AS t{n}" for n, text in enumerate(TEXTS))).collect()
    assert list(row) == list(ours)
    assert [evaluate(expression(text), {}).as_py() for text in TEXTS] == list(row)


REFUSED = ["s IS NULL = b", "b = NOT c", "i IN (1) = b", "i IS NULL IS NULL", "b AND", "i +", "i BETWEEN 1", "= b"]


@pytest.mark.parametrize("text", [*REFUSED, "i << 1", "i >> 1", "+i"])
def test_what_spark_refuses_is_refused(text: str) -> None:
    with pytest.raises(Mistake):
        expression(text)


@pytest.mark.parametrize("text", ["-2147483648 - 1", "- -2147483648", "abs(-2147483648)"])
def test_an_int_overflows_as_in_spark(text: str) -> None:
    with pytest.raises(NotExact, match="overflow"):  # Spark says so, before it reads a row
        evaluate(expression(text), {})
    assert not math.isnan(evaluate(expression("-(2147483648)"), {}).as_py())
