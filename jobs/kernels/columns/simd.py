"""Four neighbouring rows of a column at once, as a vector register holds them.

LLVM vectorises a loop only where no step waits for the one before it. A scan does, so it is written over lanes: each
step takes four rows, and the chain that waits is a quarter as long. Without the JIT, lanes are arrays of four.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # part of numba, without stubs
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

LANES: Final = 4


def load(column: Any, k: int) -> Any:
    """The rows k to k + 3; nothing checks that they are there."""
    return column[k : k + LANES].copy()


def store(column: Any, k: int, lanes: Any) -> None:
    """Write the rows k to k + 3; nothing checks that they are there."""
    column[k : k + LANES] = lanes


def fetch(column: Any, k: int) -> None:
    """Ask for the line of the cache that row k is in, which may lie outside the column, ahead of its use."""


def spread(value: Any) -> Any:
    """One value in every lane."""
    return np.repeat(value, LANES)


def lane(lanes: Any, k: int) -> Any:
    """The value of one lane."""
    return lanes[k]


def straddle(a: Any, b: Any) -> Any:
    """The last two lanes of a, then the first two of b."""
    return np.concatenate([a[2:], b[:2]])


class Lanes(types.Type):  # type: ignore[misc]  # numba has no stubs
    """The numba type of four values."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]  # numba has no stubs
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, ir.VectorType(manager.lookup(lanes.dtype).get_value_type(), LANES))


def _of_column(column: Any, k: Any) -> Any:
    return Lanes(column.dtype) if column.ndim == 1 and column.layout == "C" else None


type_callable(load)(lambda context: _of_column)
type_callable(store)(lambda context: lambda column, k, lanes: types.none if lanes == _of_column(column, k) else None)
type_callable(fetch)(lambda context: lambda column, k: types.none if _of_column(column, k) else None)
type_callable(spread)(lambda context: lambda value: Lanes(value))
type_callable(lane)(lambda context: lambda lanes, k: lanes.dtype)
type_callable(straddle)(lambda context: lambda a, b: a)


def _address(context: Any, builder: Any, column: Any, array: Any, k: Any) -> Any:
    data = context.make_array(column)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [k]), context.get_value_type(Lanes(column.dtype)).as_pointer())


@lower_builtin(load, types.Array, types.Integer)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_address(context, builder, sig.args[0], *args), align=8)


@lower_builtin(store, types.Array, types.Integer, Lanes)
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
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))


@lower_builtin(spread, types.Number)
def _spread(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    none = ir.Constant(context.get_value_type(sig.return_type), ir.Undefined)
    one = builder.insert_element(none, args[0], ir.Constant(ir.IntType(32), 0))
    return _shuffle(builder, one, none, [0] * LANES)


@lower_builtin(lane, Lanes, types.Integer)
def _lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_element(*args)


@lower_builtin(straddle, Lanes, Lanes)
def _straddle(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    left, right = args
    return _shuffle(builder, left, right, [2, 3, 4, 5])
