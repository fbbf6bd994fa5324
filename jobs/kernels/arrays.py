"""The array types that all kernels share, and integers that numba takes for int64."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]  # one number a slice: float64 or int64
Rows = NDArray[Any]  # partials, four columns each: float64 or int64
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
