"""Operators that take two values or two times four lanes, each a few instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import lower_builtin, type_callable

from jobs.kernels.columns.simd import Lanes


def larger(a: Any, b: Any) -> Any:
    """The larger one, and b where either is NaN."""
    return np.where(a > b, a, b)


def smaller(a: Any, b: Any) -> Any:
    """The smaller one, and b where either is NaN."""
    return np.where(a < b, a, b)


def largest(a: Any, b: Any) -> Any:
    """The larger one in Spark's order: NaN is above every number."""
    return np.where((a >= b) | (a != a), a, b)


def smallest(a: Any, b: Any) -> Any:
    """The smaller one in Spark's order."""
    return np.where((a <= b) | (b != b), a, b)


def both_bits(a: Any, b: Any) -> Any:
    """The bits that both have; of integers only."""
    return a & b


def any_bits(a: Any, b: Any) -> Any:
    """The bits that one of the two has; of integers only."""
    return a | b


def nans(a: Any, b: Any) -> Any:
    """Lanes of integers: not 0 where one of the two is NaN."""
    return ((a != a) | (b != b)).astype(np.int64)


def _is_float(kind: Any) -> bool:
    return isinstance(getattr(kind, "dtype", kind), types.Float)


def _compare(builder: Any, kind: Any, sign: str, a: Any, b: Any) -> Any:
    return builder.fcmp_ordered(sign, a, b) if _is_float(kind) else builder.icmp_signed(sign, a, b)


def _or_nan(builder: Any, kind: Any, chosen: Any, value: Any) -> Any:
    return builder.or_(chosen, builder.fcmp_unordered("uno", value, value)) if _is_float(kind) else chosen


def _larger(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.select(_compare(builder, kind, ">", a, b), a, b)


def _smaller(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.select(_compare(builder, kind, "<", a, b), a, b)


def _largest(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.select(_or_nan(builder, kind, _compare(builder, kind, ">=", a, b), a), a, b)


def _smallest(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.select(_or_nan(builder, kind, _compare(builder, kind, "<=", a, b), b), a, b)


def _add(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.fadd(a, b) if _is_float(kind) else builder.add(a, b)


def _multiply(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return builder.fmul(a, b) if _is_float(kind) else builder.mul(a, b)


def _both_bits(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return a if _is_float(kind) else builder.and_(a, b)


def _any_bits(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return a if _is_float(kind) else builder.or_(a, b)


def _register(function: Callable[..., Any], emit: Callable[..., Any], *kinds: Any) -> None:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit(builder, sig.args[0], *args)

    for kind in kinds:
        lower_builtin(function, kind, kind)(lower)


for _function, _emit in {
    larger: _larger,
    smaller: _smaller,
    largest: _largest,
    smallest: _smallest,
    both_bits: _both_bits,
    any_bits: _any_bits,
}.items():
    type_callable(_function)(lambda context: lambda a, b: a if a == b else None)
    _register(_function, _emit, types.Float, types.Integer, Lanes)

for _function, _emit in {operator.add: _add, operator.mul: _multiply}.items():  # type: ignore[assignment]
    type_callable(_function)(lambda context: lambda a, b: a if isinstance(a, Lanes) and a == b else None)
    _register(_function, _emit, Lanes)

type_callable(nans)(lambda context: lambda a, b: Lanes(types.int64))


@lower_builtin(nans, Lanes, Lanes)
def _nans(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    mask = context.get_value_type(sig.return_type)
    return builder.sext(builder.fcmp_unordered("uno", *args), mask) if _is_float(sig.args[0]) else mask(None)
