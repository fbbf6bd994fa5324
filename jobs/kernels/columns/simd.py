"""Four neighbouring rows of a column at once, as a vector register holds them, and operators on values or vectors.

LLVM vectorises a loop only where no step waits for the one before it. A scan does, so it is written over vectors: each
step takes four rows, and the chain that waits is a quarter as long. Without the JIT, vectors are arrays of four. Every
operator is a few instructions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # part of numba, without stubs
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

VECTOR: Final = 4


def load(column: Any, k: int) -> Any:
    """Return the rows k to k + 3 as a vector; nothing checks that they are there.

    >>> load(np.arange(9), 2).tolist()
    [2, 3, 4, 5]
    """
    return column[k : k + VECTOR].copy()


def store(column: Any, k: int, vector: Any) -> None:
    """Write a vector into the rows k to k + 3; nothing checks that they are there.

    >>> column = np.zeros(6, np.int64)
    >>> store(column, 1, np.array([1, 2, 3, 4]))
    >>> column.tolist()
    [0, 1, 2, 3, 4, 0]
    """
    column[k : k + VECTOR] = vector


def fetch(column: Any, k: int) -> None:
    """Ask for the line of the cache that row k is in, which may lie outside the column, ahead of its use.

    >>> fetch(np.zeros(6), 9)  # no value is read
    """


def spread(value: Any) -> Any:
    """Return a vector that holds one value four times.

    >>> spread(7).tolist()
    [7, 7, 7, 7]
    """
    return np.repeat(value, VECTOR)


def element(vector: Any, k: int) -> Any:
    """Return one element of a vector.

    >>> int(element(np.array([5, 6, 7, 8]), 2))
    7
    """
    return vector[k]


def straddle(a: Any, b: Any) -> Any:
    """Return the last two elements of a, then the first two of b.

    >>> straddle(np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8])).tolist()
    [3, 4, 5, 6]
    """
    return np.concatenate([a[2:], b[:2]])


class Vector(types.Type):  # type: ignore[misc]  # numba has no stubs
    """The numba type of four values."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]  # numba has no stubs
    def __init__(self, manager: Any, vector: Any) -> None:
        super().__init__(manager, vector, ir.VectorType(manager.lookup(vector.dtype).get_value_type(), VECTOR))


def _of_column(column: Any, k: Any) -> Any:
    return Vector(column.dtype) if column.ndim == 1 and column.layout == "C" else None


type_callable(load)(lambda context: _of_column)
type_callable(store)(lambda context: lambda column, k, vector: types.none if vector == _of_column(column, k) else None)
type_callable(fetch)(lambda context: lambda column, k: types.none if _of_column(column, k) else None)
type_callable(spread)(lambda context: lambda value: Vector(value))
type_callable(element)(lambda context: lambda vector, k: vector.dtype)
type_callable(straddle)(lambda context: lambda a, b: a)


def _address(context: Any, builder: Any, column: Any, array: Any, k: Any) -> Any:
    data = context.make_array(column)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [k]), context.get_value_type(Vector(column.dtype)).as_pointer())


@lower_builtin(load, types.Array, types.Integer)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_address(context, builder, sig.args[0], *args), align=8)


@lower_builtin(store, types.Array, types.Integer, Vector)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], _address(context, builder, sig.args[0], *args[:2]), align=8)
    return context.get_dummy_value()


@lower_builtin(fetch, types.Array, types.Integer)
def _fetch(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    place = builder.bitcast(_address(context, builder, sig.args[0], *args), pointer)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(ask, [place, number(0), number(3), number(1)])  # to read, into every cache, data
    return context.get_dummy_value()


def _shuffle(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), order))


@lower_builtin(spread, types.Number)
def _spread(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    none = ir.Constant(context.get_value_type(sig.return_type), ir.Undefined)
    one = builder.insert_element(none, args[0], ir.Constant(ir.IntType(32), 0))
    return _shuffle(builder, one, none, [0] * VECTOR)


@lower_builtin(element, Vector, types.Integer)
def _element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(*args)


@lower_builtin(straddle, Vector, Vector)
def _straddle(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    left, right = args
    return _shuffle(builder, left, right, [2, 3, 4, 5])


def larger(a: Any, b: Any) -> Any:
    """Return the larger one, and b where either is NaN.

    >>> larger(np.array([1.0, np.nan]), 2.0).tolist()
    [2.0, 2.0]
    """
    return np.where(a > b, a, b)


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller one, and b where either is NaN.

    >>> smaller(np.array([1.0, np.nan]), 2.0).tolist()
    [1.0, 2.0]
    """
    return np.where(a < b, a, b)


def largest(a: Any, b: Any) -> Any:
    """Return the larger one in Spark's order: NaN is above every number.

    >>> largest(np.array([1.0, np.nan]), 2.0).tolist()
    [2.0, nan]
    """
    return np.where((a >= b) | (a != a), a, b)


def smallest(a: Any, b: Any) -> Any:
    """Return the smaller one in Spark's order: NaN is above every number.

    >>> smallest(np.array([1.0, np.nan]), 2.0).tolist()
    [1.0, 2.0]
    """
    return np.where((a <= b) | (b != b), a, b)


def both_bits(a: Any, b: Any) -> Any:
    """Return the bits that both have; of integers only.

    >>> both_bits(6, 3)
    2
    """
    return a & b


def any_bits(a: Any, b: Any) -> Any:
    """Return the bits that one of the two has; of integers only.

    >>> any_bits(6, 3)
    7
    """
    return a | b


def other_bits(a: Any, b: Any) -> Any:
    """Return the bits that just one of the two has; of integers only.

    >>> other_bits(6, 3)
    5
    """
    return a ^ b


def nans(a: Any, b: Any) -> Any:
    """Return a vector of integers: not 0 where one of the two is NaN.

    >>> nans(np.array([1.0, np.nan]), np.array([1.0, 1.0])).tolist()
    [0, 1]
    """
    return ((a != a) | (b != b)).astype(np.int64)


def _is_float(kind: Any) -> bool:
    return isinstance(getattr(kind, "dtype", kind), types.Float)


def _compare(builder: Any, kind: Any, sign: str, a: Any, b: Any) -> Any:
    return builder.fcmp_ordered(sign, a, b) if _is_float(kind) else builder.icmp_signed(sign, a, b)


def _or_nan(builder: Any, kind: Any, condition: Any, value: Any) -> Any:
    return builder.or_(condition, builder.fcmp_unordered("uno", value, value)) if _is_float(kind) else condition


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


def _other_bits(builder: Any, kind: Any, a: Any, b: Any) -> Any:
    return a if _is_float(kind) else builder.xor(a, b)


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
    other_bits: _other_bits,
}.items():
    type_callable(_function)(lambda context: lambda a, b: a if a == b else None)
    _register(_function, _emit, types.Float, types.Integer, Vector)

for _function, _emit in {operator.add: _add, operator.mul: _multiply}.items():  # type: ignore[assignment]
    type_callable(_function)(lambda context: lambda a, b: a if isinstance(a, Vector) and a == b else None)
    _register(_function, _emit, Vector)

type_callable(nans)(lambda context: lambda a, b: Vector(types.int64))


@lower_builtin(nans, Vector, Vector)
def _nans(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    mask = context.get_value_type(sig.return_type)
    return builder.sext(builder.fcmp_unordered("uno", *args), mask) if _is_float(sig.args[0]) else mask(None)
