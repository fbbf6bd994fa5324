"""Answers as the user's SQL has them: finished from folded measures, nulls and types as Spark gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.finals.fold import Finals
from jobs.engine.finals.grid import Folded
from jobs.engine.finals.tally_answers import answer_from_tally
from jobs.engine.program.program import QueryProgram
from jobs.kernels.algebra.finish import Part, finish
from jobs.kernels.arrays import Bools, Ints, Rows
from optimizer.errors import HeddleError
from optimizer.plan.counts import ANSWER


class Answer(NamedTuple):
    """The windows of one query that ended: the key's row, the window's start, the value."""

    query: QueryProgram
    group: npt.NDArray[np.integer[Any]]
    start: Ints
    value: pa.Array


def answers(finals: Finals) -> Iterator[Answer]:
    """Answer every query of a tree."""
    for query in finals.tree.queries:
        windows = finals.emitted(query.window)
        if not len(windows.start):
            continue
        finals.tally({ANSWER: len(windows.start)})
        value = _value(finals, query)
        if query.passing:  # a window in which no event passes the predicate has no row in Spark's answer, either
            places = np.flatnonzero(finals.folded(query.passing, query.window).numbers[0] > 0)
            yield Answer(query, windows.group[places], windows.start[places], value.take(pa.array(places)))
        else:
            yield Answer(query, windows.group, windows.start, value)


def _value(finals: Finals, query: QueryProgram) -> pa.Array:
    first = finals.tree.measure(query.measures[0])
    if first.tally:
        return answer_from_tally(finals, query, first)
    folded = [finals.folded(key, query.window) for key in query.measures]
    folded = [_null_overflow(part) if query.aggregate == "try_sum" else part for part in folded]
    if any(part.overflow is not None and part.overflow.any() for part in folded):
        raise _too_large(query)
    value = _carried_value(finals, query, folded[0])
    if value is not None:
        return value
    numbers, valid = finish(query.aggregate, [Part(part.numbers, part.valid) for part in folded])
    valid = None if valid is None or valid.all() else valid
    differences = numbers if valid is None else numbers[valid]
    if query.aggregate == "range" and pa.types.is_integer(query.type) and not _fits(differences, query.type):
        raise _too_large(query)
    return _arrow(numbers, valid, query.type)


def _null_overflow(sums: Folded) -> Folded:
    if sums.overflow is None or not sums.overflow.any():
        return sums
    fits = ~sums.overflow
    return sums._replace(valid=fits if sums.valid is None else sums.valid & fits, overflow=None)


def _too_large(query: QueryProgram) -> HeddleError:
    return HeddleError(
        f"query {query.id}: the {query.aggregate} of a window does not fit into {query.type}, and Spark would refuse "
        "it too; cast to double first"
    )


def _fits(difference: Rows, kind: pa.DataType) -> bool:
    """Whether max - min stays inside its type; beyond int64 it has wrapped around to below zero."""
    if not len(difference):
        return True
    return bool(difference.min() >= 0 and difference.max() < 1 << (kind.bit_width - 1))


def _carried_value(finals: Finals, query: QueryProgram, folded: Folded) -> pa.Array | None:
    measure = finals.tree.measure(query.measures[0])
    if not measure.carries:
        return None
    name = f"payload {measure.key}" if measure.payload else f"order {measure.key}"
    index = pa.array(folded.source, mask=None if folded.valid is None else ~folded.valid)
    return finals.slices.carried(measure, name, index).cast(query.type)


def _arrow(numbers: Rows, valid: Bools | None, kind: pa.DataType) -> pa.Array:
    mask = None if valid is None else ~valid
    if pa.types.is_boolean(kind):
        return pa.array(numbers != 0, kind, mask=mask)
    if pa.types.is_date32(kind):
        return pa.array(numbers.astype(np.int32), pa.int32(), mask=mask).view(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(numbers.astype(np.int64), pa.int64(), mask=mask).view(kind)
    return pa.array(numbers, mask=mask).cast(kind, safe=False)
