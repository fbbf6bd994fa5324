"""Answers as the user's SQL has them: finished from folded measures, nulls and types as Spark gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from jobs.engine.fold import Finals, Folded
from jobs.engine.program import QueryProgram
from jobs.kernels.operators import Rows
from optimizer.errors import HeddleError

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = tuple[Rows, Mask]  # values, and which are not null


class Answer(NamedTuple):
    """The windows of one query that ended: the key's row, the window's start, the value."""

    query: QueryProgram
    group: Ints
    start: Ints
    value: pa.Array


def answers(finals: Finals) -> Iterator[Answer]:
    """The answers of every query of a tree."""
    for query in finals.tree.queries:
        found = finals.ranges(query.window)
        if not len(found.start):
            continue
        value = _value(finals, query)
        if query.passing:
            held = np.flatnonzero(finals.folded(query.passing, query.window).numbers[0] > 0)
            yield Answer(query, found.group[held], found.start[held], value.take(pa.array(held)))
        else:
            yield Answer(query, found.group, found.start, value)


def _value(finals: Finals, query: QueryProgram) -> pa.Array:
    folded = [finals.folded(key, query.window) for key in query.measures]
    if any(part.overflow.any() for part in folded):
        raise _too_large(query)
    carried = _carried(finals, query, folded[0])
    if carried is not None:
        return carried
    numbers, valid = _FINISH.get(query.aggregate, _single)(query.aggregate, folded)
    if query.aggregate == "range" and pa.types.is_integer(query.type) and not _fits(numbers, query.type):
        raise _too_large(query)
    return _arrow(numbers, valid, query.type)


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


def _carried(finals: Finals, query: QueryProgram, folded: Folded) -> pa.Array | None:
    measure = finals.tree.measure(query.measures[0])
    if not measure.carries:
        return None
    name = f"payload {measure.key}" if measure.payload else f"order {measure.key}"
    index = pa.array(folded.taken, mask=~folded.valid)
    return finals.slices.carried[name].take(index).cast(query.type)


def _single(aggregate: str, folded: list[Folded]) -> Numbers:
    return folded[0].numbers[0], folded[0].valid


def _avg(aggregate: str, folded: list[Folded]) -> Numbers:
    total, count = folded[0].numbers[0], folded[1].numbers[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        return (np.exp(mean) if aggregate == "geometric_mean" else mean), count > 0


def _range(aggregate: str, folded: list[Folded]) -> Numbers:
    high, low = folded[0].numbers[0], folded[1].numbers[0]
    with np.errstate(invalid="ignore"):
        return np.where(folded[0].valid, high - low, 0), folded[0].valid


def _spread(aggregate: str, folded: list[Folded]) -> Numbers:
    """Variance and deviation; Spark's sample forms are null for a single value."""
    count, _, m2 = folded[0].numbers
    sample = aggregate.endswith("_samp")
    divisor = count - 1 if sample else count
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = m2 / divisor
        numbers = np.sqrt(variance) if aggregate.startswith("stddev") else variance
    return numbers, divisor > 0


_FINISH: dict[str, Callable[[str, list[Folded]], Numbers]] = {
    "avg": _avg,
    "geometric_mean": _avg,
    "range": _range,
    **dict.fromkeys(("var_pop", "var_samp", "stddev_pop", "stddev_samp"), _spread),
}


def _arrow(numbers: Rows, valid: Mask, kind: pa.DataType) -> pa.Array:
    mask = None if valid.all() else ~valid
    if pa.types.is_boolean(kind):
        return pa.array(numbers != 0, kind, mask=mask)
    if pa.types.is_date32(kind):
        return pa.array(numbers.astype(np.int32), pa.int32(), mask=mask).view(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(numbers.astype(np.int64), pa.int64(), mask=mask).view(kind)
    return pa.array(numbers, mask=mask).cast(kind, safe=False)
