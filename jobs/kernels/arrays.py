"""The array types that all kernels share, and integers that numba takes for int64."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]  # one number a slice: float64 or int64
Rows = NDArray[Any]  # partials, four columns each: float64 or int64
Compiled = TypeVar("Compiled", bound=Callable[..., Any])
Words = NDArray[np.int64]  # rows as 64-bit words; the bits may be those of float64


def read_only(array: Any) -> Any:
    """Return the array, contiguous and not to be written to.

    numba has another type for such an array, and Arrow's columns are some: a kernel that got both kinds would be
    compiled twice, and so would all that it calls.

    >>> read_only(np.arange(4)[::2]).flags.writeable
    False
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def compile_in_place(function: Compiled) -> Compiled:
    """Compile a function that reads and writes the arrays it is given, and neither makes nor returns one.

    numba counts references to every array that a function takes out of a tuple, by locked instructions, and a technique
    takes out dozens for an event: counting took most of its time. numba refuses a function that makes or returns one.

    `machine.memory.store` shows an example.
    """
    uncounted: dict[str, Any] = {"_nrt": False}
    return cast(Compiled, njit(cache=True, forceinline=True, **uncounted)(function))


def compile_read_only(function: Callable[..., Floats]) -> Callable[..., Floats]:
    """Compile a function of columns of doubles for columns that it may only read, whichever it is called with.

    `fdlibm.logarithms.log` shows an example.
    """
    compiled = njit(cache=True, error_model="numpy")(function)

    @wraps(function)
    def call(*columns: Floats) -> Floats:
        result: Floats = compiled(*map(read_only, columns))
        return result

    return call


def int64_literal(number: int) -> int:
    """Return the number as an int64.

    numba gives a literal a type of its own: whatever is called with one is compiled for it apart, and so is all that
    it calls in turn, before the same is compiled for integers.

    >>> int64_literal(3).dtype
    dtype('int64')
    """
    return cast(int, np.int64(number))


ZERO: Final = int64_literal(0)
