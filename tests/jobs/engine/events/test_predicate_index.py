"""The predicate index against the evaluator of expressions: the same events pass, whatever values a column has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engine.events import predicate_index
from jobs.engine.events.columns import Predicates
from jobs.engine.events.expressions import evaluate
from jobs.engine.events.keys import signatures
from jobs.engine.events.predicate_index import find_comparisons, index_predicates, truth_of
from jobs.engine.program.program import Input

WHOLE = (0, 1, 2, 3, 100, 127, 128, 1 << 31, 1 << 40, (1 << 53) + 1, (1 << 63) - 1)
FLOATS = (0.0, -0.0, 0.1, 1.5, -1.5, 2.0, 1e300, float("inf"), float("-inf"), float("nan"), 2.0**53, None)
TEXTS = ("", "a", "ab", "b", "é", "z\U0001f600", "A", None)
KINDS = {pa.int8(): 7, pa.int16(): 15, pa.int32(): 31, pa.int64(): 63}


@pytest.fixture(autouse=True, scope="module")
def _index_any_number_of_predicates() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predicate_index, "FEWEST_NUMBERS", 1)
        patch.setattr(predicate_index, "FEWEST_TEXTS", 1)
        yield


def whole_column(kind: pa.DataType) -> st.SearchStrategy[pa.Array]:
    below = 1 << KINDS[kind]
    values = [value for value in WHOLE if value < below] + [-value for value in WHOLE if value < below] + [-below, None]
    return st.lists(st.sampled_from(values), max_size=20).map(lambda rows: pa.array(rows, kind))


float_column = st.lists(st.sampled_from(FLOATS), max_size=20).map(lambda rows: pa.array(rows, pa.float64()))
text_rows = st.lists(st.sampled_from(TEXTS), max_size=20)
whole_literals = st.sampled_from([str(value) for value in WHOLE] + [f"-{value}" for value in WHOLE])
float_literals = whole_literals | st.sampled_from(["0.1", "-0.0", "1.5", "-1.5", "2.5e0", "1e300", "9" * 25])
text_literals = st.sampled_from([f"'{text}'" for text in TEXTS if text is not None])


def predicate(literals: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    leaf = st.one_of(
        st.tuples(operators, literals).map(lambda pair: f"x {pair[0]} {pair[1]}"),
        st.tuples(literals, operators).map(lambda pair: f"{pair[0]} {pair[1]} x"),
        st.tuples(literals, literals).map(lambda pair: f"x BETWEEN {pair[0]} AND {pair[1]}"),
        st.lists(literals, min_size=1, max_size=4).map(lambda options: f"x IN ({', '.join(options)})"),
        st.just("x IS NULL"),
    )
    joined = st.tuples(leaf, st.sampled_from(["AND", "OR"]), leaf).map(lambda parts: f"({' '.join(parts)})")
    return st.one_of(leaf, joined, joined.map(lambda text: f"NOT {text}"))


def question(
    columns: st.SearchStrategy[pa.Array], literals: st.SearchStrategy[str]
) -> st.SearchStrategy[tuple[pa.Array, list[str]]]:
    return st.tuples(columns, st.lists(predicate(literals), min_size=1, max_size=8, unique=True))


questions = st.one_of(
    *(question(whole_column(kind), whole_literals) for kind in KINDS),
    question(float_column, float_literals),
    question(text_rows.map(lambda rows: pa.array(rows, pa.string())), text_literals),
    question(text_rows.map(lambda rows: pa.array(rows, pa.string()).dictionary_encode()), text_literals),
)


def truth_by_evaluator(sql: str, column: pa.Array) -> list[bool]:
    return [bool(value) for value in evaluate(sql, {"x": column}).to_pylist()]


@settings(max_examples=300, deadline=None)
@given(questions)
def test_the_same_events_pass(asked: tuple[pa.Array, list[str]]) -> None:
    column, texts = asked
    tests = [Input(f"p{number}", sql) for number, sql in enumerate(texts)]
    answers = index_predicates(tests, {"x": pa.chunked_array([column])})
    assert list(answers) == [item.name for item in tests]
    for item in tests:
        assert truth_of(answers[item.name]).tolist() == truth_by_evaluator(item.sql, column), item.sql


@settings(max_examples=60, deadline=None)
@given(questions, st.randoms())
def test_signatures_are_those_of_the_masks(asked: tuple[pa.Array, list[str]], random: Any) -> None:
    column, texts = asked
    tests = [Input(f"p{number}", sql) for number, sql in enumerate(texts)]
    answers: dict[str, pa.Array] = dict(index_predicates(tests, {"x": column}))
    other = pa.array([random.random() < 0.5 for _ in range(len(column))], pa.bool_())
    mixed = {"first": other, **answers, "last": other}
    ours, theirs = Predicates(mixed).signatures(), signatures([truth_of(mask) for mask in mixed.values()])
    assert ours.tests[ours.codes].tolist() == theirs.tests[theirs.codes].tolist()
    assert len(np.unique(ours.tests, axis=0)) == len(ours.tests)


@pytest.mark.parametrize("sql", ["x + 1 > 3", "x > y", "1 < 2", "t.x > 1", "abs(x) = 1", "x = 1.5"])
def test_what_no_index_answers_is_left_to_the_evaluator(sql: str) -> None:
    assert index_predicates([Input("p", sql)], {"x": pa.array([1, 2]), "y": pa.array([2, 1])}) == {}


def test_literals() -> None:
    comparisons = find_comparisons("NOT (x = 'a' OR x IN ('b', 'c')) AND x IS NULL")
    assert comparisons is not None
    assert comparisons.literals == ("a", "b", "c")


def test_many_whole_numbers_in_a_narrow_range() -> None:
    column = pa.array(np.random.default_rng(1).integers(-5, 500, 70_000))
    tests = [Input(f"p{number}", f"x >= {number}") for number in range(-5, 500, 50)]
    answers = index_predicates(tests, {"x": column})
    assert all(truth_of(answers[item.name]).tolist() == truth_by_evaluator(item.sql, column) for item in tests)
