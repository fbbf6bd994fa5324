"""Comparisons in Spark's order, where NaN equals NaN and is above every number, three-valued logic, and conditionals.

Conditionals are CASE, IF, COALESCE, NULLIF, GREATEST, LEAST. An error counts only in the branch that a row takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.language.vectors import TEXT, TRUTH, Vector, constant, of_texts, strict, texts_of
from jobs.kernels.arrays import Bools

Test = Callable[[pa.DataType, Vector, Vector], Vector]


def _comparison(operator: Callable[[Any, Any], Any], on_texts: Callable[..., Any], of_nans: str) -> Test:
    """Return a comparison; `of_nans` tells its truth where both sides, the left or the right alone are NaN."""
    both, left, right = (truth == "1" for truth in of_nans)

    def compare(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
        if a.type == TEXT:
            return strict(TRUTH, compare_texts(on_texts, a, b), a, b)
        truth = operator(a.values, b.values)
        if pa.types.is_floating(a.type):
            nan_a, nan_b = _nans(a.values), _nans(b.values)
            if nan_a is not None or nan_b is not None:
                nan_a, nan_b = np.isnan(a.values), np.isnan(b.values)
                truth = np.where(nan_a, np.where(nan_b, both, left), np.where(nan_b, right, truth))
        return strict(TRUTH, np.asarray(truth, np.bool_), a, b)

    return compare


def _nans(values: Any) -> Bools | None:
    """Return where NaN is; None where it is not. The least of numbers is NaN if one of them is."""
    return np.isnan(values) if len(values) and np.isnan(values.min()) else None


def compare_texts(operator: Callable[..., Any], a: Vector, b: Vector) -> Bools:
    """Return the truth of a comparison of texts, by their bytes; anything where one of them is null."""
    if len(b) == 1 and pa.types.is_dictionary(a.values.type):  # each distinct text is compared once
        truth = _truths(operator(a.values.dictionary, b.values[0]))
        return truth[a.values.indices.fill_null(0).to_numpy()] if len(truth) else np.zeros(len(a), np.bool_)
    left, right = texts_of(a), texts_of(b)
    return _truths(operator(left[0] if len(a) == 1 else left, right[0] if len(b) == 1 else right))


def _truths(truth: Any) -> Bools:
    if isinstance(truth, pa.Scalar):
        return np.array([bool(truth.as_py())])
    return np.asarray(truth.fill_null(False))


equal = _comparison(np.equal, pc.equal, "100")
not_equal = _comparison(np.not_equal, pc.not_equal, "011")
greater = _comparison(np.greater, pc.greater, "010")
greater_equal = _comparison(np.greater_equal, pc.greater_equal, "110")
less = _comparison(np.less, pc.less, "001")
less_equal = _comparison(np.less_equal, pc.less_equal, "101")


def equal_null_safe(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a <=> b: null equals null, and nothing else."""
    same = equal(kind, a, b)
    a_valid, b_valid = is_valid(a), is_valid(b)
    values = (same.values & a_valid & b_valid) | (~a_valid & ~b_valid)
    errors = [part.errors for part in (a, b) if part.errors is not None]
    return Vector(
        TRUTH, values, None, np.logical_or.reduce(np.broadcast_arrays(*errors)) if errors else None, same.reason
    )


def is_valid(a: Vector) -> Bools:
    """Return where a vector has values."""
    return np.ones(1, np.bool_) if a.valid is None else a.valid


def is_null(kind: pa.DataType, a: Vector) -> Vector:
    """Return a IS NULL."""
    nulls = np.zeros(len(a), np.bool_) if a.valid is None else ~a.valid
    return Vector(TRUTH, nulls, None, a.errors, a.reason)


def is_not_null(kind: pa.DataType, a: Vector) -> Vector:
    """Return a IS NOT NULL."""
    return invert(kind, is_null(kind, a))


def is_nan(kind: pa.DataType, a: Vector) -> Vector:
    """Return isnan(a), which is false of null."""
    return Vector(TRUTH, np.isnan(a.values) & is_valid(a), None, a.errors, a.reason)


def invert(kind: pa.DataType, a: Vector) -> Vector:
    """Return NOT a."""
    return strict(TRUTH, ~a.values, a)


def both(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a AND b; Spark looks at b unless a is false."""
    return _logic(a, b, decisive=False)


def either(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return a OR b; Spark looks at b unless a is true."""
    return _logic(a, b, decisive=True)


def _logic(a: Vector, b: Vector, decisive: bool) -> Vector:
    values = a.values | b.values if decisive else a.values & b.values
    errors, reason = a.errors, a.reason or b.reason
    if b.errors is not None:
        errors_of_b = b.errors & ~_is(a, decisive)
        errors = errors_of_b if errors is None else errors | errors_of_b
    if a.valid is None and b.valid is None:
        return Vector(TRUTH, values, None, errors, reason)
    decided = _is(a, decisive) | _is(b, decisive)
    valid = decided | (is_valid(a) & is_valid(b))
    return Vector(TRUTH, np.where(decided, decisive, values), valid, errors, reason)


def _is(a: Vector, truth: bool) -> Bools:
    same: Bools = a.values if truth else ~a.values
    return same if a.valid is None else same & a.valid


def is_in(kind: pa.DataType, a: Vector, *options: Vector) -> Vector:
    """Return a IN (options): null where it is none of them, but one is null. Spark stops at the first that matches."""
    answer = equal(kind, a, options[0])
    for option in options[1:]:
        answer = either(kind, answer, equal(kind, a, option))
    return answer


def choose(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return CASE WHEN parts[0] THEN parts[1] WHEN ... ELSE the last part; a condition that is null is not met."""
    answer = parts[-1]
    for place in range(len(parts) - 3, -1, -2):
        answer = pick(kind, parts[place], parts[place + 1], answer)
    return answer


def pick(kind: pa.DataType, condition: Vector, then: Vector, otherwise: Vector) -> Vector:
    """Return `then` where the condition is true, else the other."""
    true = condition.values if condition.valid is None else condition.values & condition.valid
    return select(kind, true, then, otherwise, condition)


def select(kind: pa.DataType, true: Bools, then: Vector, otherwise: Vector, test: Vector | None = None) -> Vector:
    """Return one of two vectors for every row; the errors of a test count everywhere."""
    errors, reason = _select_errors(true, then, otherwise, test)
    if kind == TEXT:
        rows = max(len(true), len(then), len(otherwise))
        test_rows = pa.array(np.broadcast_to(true, rows))
        texts = pc.if_else(test_rows, _text_side(then, rows), _text_side(otherwise, rows))
        return of_texts(texts, errors, reason)
    values = np.where(true, then.values, otherwise.values)
    valid = None
    if then.valid is not None or otherwise.valid is not None:
        valid = np.where(true, is_valid(then), is_valid(otherwise))
    return Vector(kind, values, valid, errors, reason)


def _text_side(side: Vector, rows: int) -> Any:
    texts = texts_of(side)
    return texts[0] if len(texts) == 1 and rows != 1 else texts


def _select_errors(true: Bools, then: Vector, otherwise: Vector, test: Vector | None) -> tuple[Bools | None, str]:
    marks = [] if test is None or test.errors is None else [test.errors]
    reason = "" if test is None else test.reason
    if then.errors is not None:
        marks.append(then.errors & true)
    if otherwise.errors is not None:
        marks.append(otherwise.errors & ~true)
    if not marks:
        return None, ""
    return np.logical_or.reduce(np.broadcast_arrays(*marks)), reason or then.reason or otherwise.reason


def coalesce(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return the first part that is not null; Spark evaluates the next one only where those before are null."""
    answer = parts[-1]
    for part in reversed(parts[:-1]):
        if part.valid is None and part.errors is None:
            answer = part
        else:
            true = is_valid(part)
            if part.errors is not None:  # a refused row has no value, and no part after it is looked at
                true = true | part.errors
            answer = select(kind, np.broadcast_to(true, max(len(part), len(true))), part, answer)
    return answer


def null_if(kind: pa.DataType, a: Vector, b: Vector, value: Vector) -> Vector:
    """Return nullif(a, b): the value (a in its own type) unless a equals b."""
    return pick(kind, equal(kind, a, b), constant(kind, None), value)


def nan_value(kind: pa.DataType, a: Vector, b: Vector) -> Vector:
    """Return nanvl(a, b): b where a is NaN."""
    return pick(kind, is_nan(kind, a), b, a)


def greatest(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return the greatest part that is not null, of equal ones the first."""
    return _extreme(kind, greater, parts)


def least(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return the least part that is not null, of equal ones the first."""
    return _extreme(kind, less, parts)


def _extreme(kind: pa.DataType, beats: Any, parts: tuple[Vector, ...]) -> Vector:
    answer = parts[0]
    for part in parts[1:]:
        wins = beats(kind, part, answer)
        true = wins.values if wins.valid is None else wins.values & wins.valid
        true = (true & is_valid(part)) | ~is_valid(answer)
        winner = select(kind, true, part, answer)
        errors = [each.errors for each in (answer, part) if each.errors is not None]
        merged = np.logical_or.reduce(np.broadcast_arrays(*errors)) if errors else None
        answer = Vector(kind, winner.values, winner.valid, merged, answer.reason or part.reason)
    return answer
