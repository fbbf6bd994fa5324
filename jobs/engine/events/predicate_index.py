"""Predicate index: many predicates on one column, answered by one search of every event among all their literals.

The literals cut the column's values into classes: below the first, equal to it, between it and the second, and so on;
NaN is above all numbers, null a class of its own. A predicate that only compares the column with literals is the same
throughout a class, so it is evaluated for one value of each. Texts have a class per distinct value. The evaluator of
expressions stays the judge: it evaluates those few values, and all predicates of any other kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from jobs.engine.events.arrow import to_array
from jobs.engine.events.expressions import CachedColumns, evaluate, parse_cached
from jobs.engine.events.language.nodes import COMPARISONS
from jobs.engine.events.language.vectors import WIDTHS
from jobs.engine.program.program import Input
from jobs.kernels.arrays import Bools, Ints
from optimizer.catalog.model.query import UTC

Literal = str | int | float
FEWEST_NUMBERS, FEWEST_TEXTS = 16, 8  # predicates on a column that make a search, or a dictionary, pay
NARROW = 1 << 16  # values of whole numbers that are searched once each, however many events have them


class Comparisons(NamedTuple):
    """The only column of a predicate, and the literals it is compared with; None where something else is done."""

    column: str
    literals: tuple[Literal, ...] | None


class Classes(NamedTuple):
    """Event i is of the class codes[i]; row c of `values` is a value of class c, or null where no event is of it."""

    codes: Ints
    values: pa.Array


def index_predicates(
    predicates: Sequence[Input], columns: Mapping[str, pa.Array | pa.ChunkedArray], zone: str = UTC
) -> dict[str, pa.DictionaryArray]:
    """Return the predicates that an index answers, by name: for every event its class, and the truth of every class.

    >>> tests = [Input(f"p{number}", f"n > {number}") for number in range(20)]
    >>> truth_of(index_predicates(tests, {"n": pa.array([0, 7, None])})["p6"]).tolist()
    [False, True, False]
    """
    answers: dict[str, pa.DictionaryArray] = {}
    for name, tests in _by_column(tuple(predicates)).items():
        if name not in columns:
            continue
        column = to_array(columns[name])
        if _is_text(column.type):
            encoded = pa.types.is_dictionary(column.type)
            if encoded or len(tests) >= FEWEST_TEXTS:
                answers |= _answer([item for item, _ in tests], name, _text_classes(column), zone)
            continue
        comparable = [(item, literals) for item, literals in tests if _are_comparable(literals, column.type)]
        if len(comparable) >= FEWEST_NUMBERS:
            cuts = sorted({literal for _, literals in comparable for literal in literals or ()})
            answers |= _answer([item for item, _ in comparable], name, _number_classes(column, cuts), zone)
    return answers


def _answer(tests: Sequence[Input], name: str, classes: Classes, zone: str) -> dict[str, pa.DictionaryArray]:
    values = CachedColumns({name: classes.values}, zone)
    codes = pa.array(classes.codes)
    answers = {}
    for item in tests:
        try:
            truth = evaluate(item.sql, values)
        except pa.ArrowInvalid:  # not all events need be looked at: the evaluator knows which
            continue
        if not isinstance(truth, pa.Scalar):
            answers[item.name] = pa.DictionaryArray.from_arrays(codes, to_array(truth).fill_null(False), safe=False)
    return answers


def truth_of(column: pa.Array | pa.ChunkedArray) -> Bools:
    """Return where a predicate is true: it keeps an event only then, and unknown (null) is not true."""
    flat = to_array(column)
    if pa.types.is_dictionary(flat.type):
        return np.asarray(truth_of(flat.dictionary)[flat.indices.to_numpy()])
    truth = pc.fill_null(flat.cast(pa.bool_()), False)
    bits = np.frombuffer(truth.buffers()[1], np.uint8) if len(truth) else np.empty(0, np.uint8)
    return np.unpackbits(bits, count=truth.offset + len(truth), bitorder="little")[truth.offset :].view(np.bool_)


@lru_cache(maxsize=64)
def _by_column(predicates: tuple[Input, ...]) -> dict[str, list[tuple[Input, tuple[Literal, ...] | None]]]:
    tests: dict[str, list[tuple[Input, tuple[Literal, ...] | None]]] = {}
    for item in predicates:
        comparisons = find_comparisons(item.sql)
        if comparisons:
            tests.setdefault(comparisons.column, []).append((item, comparisons.literals))
    return tests


@lru_cache(maxsize=8_192)
def find_comparisons(sql: str) -> Comparisons | None:
    """Return what a predicate compares; None where it reads several columns, or none.

    >>> find_comparisons("n BETWEEN 1 AND 5 OR NOT n = -7")
    Comparisons(column='n', literals=(1, 5, -7))
    >>> find_comparisons("n % 2 = 1")
    Comparisons(column='n', literals=None)
    """
    tree = parse_cached(sql)
    columns = list(tree.find_all(exp.Column))
    if len({column.name for column in columns}) != 1 or any(len(column.parts) > 1 for column in columns):
        return None
    literals = _literals(tree)
    return Comparisons(columns[0].name, None if literals is None else tuple(literals))


def _literals(node: Any) -> list[Literal] | None:
    """Return the literals that comparisons with a column name; None where a node is anything else."""
    operands: list[Any]
    match node:
        case exp.Paren() | exp.Not():
            return _literals(node.this)
        case exp.And() | exp.Or():
            left, right = _literals(node.this), _literals(node.expression)
            return None if left is None or right is None else left + right
        case exp.Is() if isinstance(node.this, exp.Column) and isinstance(node.expression, exp.Null):
            return []
        case exp.Between() if isinstance(node.this, exp.Column):
            operands = [node.args["low"], node.args["high"]]
        case exp.In() if isinstance(node.this, exp.Column) and node.expressions:
            operands = node.expressions
        case _ if type(node) in COMPARISONS and isinstance(node.this, exp.Column):
            operands = [node.expression]
        case _ if type(node) in COMPARISONS and isinstance(node.expression, exp.Column):
            operands = [node.this]
        case _:
            return None
    values = [_literal(operand) for operand in operands]
    literals = [value for value in values if value is not None]
    return literals if len(literals) == len(values) else None


def _literal(node: Any) -> Literal | None:
    if isinstance(node, exp.Neg):
        value = _literal(node.this)
        return None if value is None or isinstance(value, str) else -value
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.name)
    return int(node.name) if node.name.isdigit() and int(node.name) < 1 << 63 else float(node.name)


def _is_text(kind: pa.DataType) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return values in (pa.string(), pa.large_string())


def _are_comparable(literals: tuple[Literal, ...] | None, kind: pa.DataType) -> bool:
    """Whether values of a type are compared with the literals as they are: none of them becomes another number."""
    if literals is None or (kind not in WIDTHS and kind != pa.float64()):
        return False
    if kind == pa.float64():
        return not any(isinstance(literal, str) for literal in literals)
    return all(isinstance(literal, int) for literal in literals)


def _text_classes(column: pa.Array) -> Classes:
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    dictionary = encoded.dictionary
    indices = encoded.indices.cast(pa.int64())
    codes = np.asarray(indices.fill_null(len(dictionary)) if indices.null_count else indices)
    return Classes(codes, pa.concat_arrays([dictionary, pa.nulls(1, dictionary.type)]))


def _number_classes(column: pa.Array, literals: Sequence[Literal]) -> Classes:
    kind = np.dtype(np.float64 if pa.types.is_floating(column.type) else np.int64)
    cuts = np.unique(np.array(literals, kind))
    numbers = np.asarray((column.fill_null(0) if column.null_count else column).cast(pa.from_numpy_dtype(kind)))
    codes = _search(cuts, numbers)
    if column.null_count:
        codes[np.asarray(column.is_null())] = 2 * len(cuts) + 2
    place = np.full(2 * len(cuts) + 3, -1)
    place[codes] = np.arange(len(codes))
    return Classes(codes, column.take(pa.array(place, mask=place < 0)))


def _search(cuts: Any, numbers: Any) -> Ints:
    """Return the class of every number: twice the cuts below it, and one more where it equals a cut; NaN is last.

    >>> _search(np.array([1.0, 5.0]), np.array([0.0, 1.0, 3.0, 5.0, 9.0, np.nan])).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    if numbers.dtype == np.int64 and len(numbers) > NARROW:
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < NARROW:
            return np.asarray(_search(cuts, np.arange(low, high + 1))[numbers - low])
    below = np.searchsorted(cuts, numbers)
    codes = 2 * below + (np.append(cuts, cuts[-1:])[below] == numbers) if len(cuts) else 2 * below
    if numbers.dtype == np.float64:
        codes[np.isnan(numbers)] = 2 * len(cuts) + 1
    return np.asarray(codes)
