"""Conditionals: CASE, IF, COALESCE, NULLIF, GREATEST, LEAST. An error counts only in the branch that a row takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.language.comparisons import equal, greater, is_nan, is_valid, less
from jobs.engine.events.language.vectors import TEXT, Vector, constant, of_texts, texts_of
from jobs.kernels.arrays import Bools


def choose(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return CASE WHEN parts[0] THEN parts[1] WHEN ... ELSE the last part; a condition that is null is not met."""
    answer = parts[-1]
    for place in range(len(parts) - 3, -1, -2):
        answer = pick(kind, parts[place], parts[place + 1], answer)
    return answer


def pick(kind: pa.DataType, condition: Vector, met: Vector, otherwise: Vector) -> Vector:
    """Return `met` where the condition is true, else the other."""
    true = condition.values if condition.valid is None else condition.values & condition.valid
    return select(kind, true, met, otherwise, condition)


def select(kind: pa.DataType, true: Bools, met: Vector, otherwise: Vector, test: Vector | None = None) -> Vector:
    """Return one of two vectors for every row; the errors of a test count everywhere."""
    errors, reason = _select_errors(true, met, otherwise, test)
    if kind == TEXT:
        rows = max(len(true), len(met), len(otherwise))
        test_rows = pa.array(np.broadcast_to(true, rows))
        chosen = pc.if_else(test_rows, _text_side(met, rows), _text_side(otherwise, rows))
        return of_texts(chosen, errors, reason)
    values = np.where(true, met.values, otherwise.values)
    valid = None
    if met.valid is not None or otherwise.valid is not None:
        valid = np.where(true, is_valid(met), is_valid(otherwise))
    return Vector(kind, values, valid, errors, reason)


def _text_side(side: Vector, rows: int) -> Any:
    texts = texts_of(side)
    return texts[0] if len(texts) == 1 and rows != 1 else texts


def _select_errors(true: Bools, met: Vector, otherwise: Vector, test: Vector | None) -> tuple[Bools | None, str]:
    marks = [] if test is None or test.errors is None else [test.errors]
    reason = "" if test is None else test.reason
    if met.errors is not None:
        marks.append(met.errors & true)
    if otherwise.errors is not None:
        marks.append(otherwise.errors & ~true)
    if not marks:
        return None, ""
    return np.logical_or.reduce(np.broadcast_arrays(*marks)), reason or met.reason or otherwise.reason


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
        chosen = select(kind, true, part, answer)
        errors = [each.errors for each in (answer, part) if each.errors is not None]
        merged = np.logical_or.reduce(np.broadcast_arrays(*errors)) if errors else None
        answer = Vector(kind, chosen.values, chosen.valid, merged, answer.reason or part.reason)
    return answer
