"""The array types that all kernels share, and integers that numba takes for int64."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]  # one number a slice: float64 or int64
Rows = NDArray[Any]  # partials, four columns each: float64 or int64
Words = NDArray[np.int64]  # rows as 64-bit words; the bits may be those of float64


def int64_literal(number: int) -> int:
    """Return the number as an int64.

    numba gives a literal a type of its own: whatever is called with one is compiled for it apart, and so is all that
    it calls in turn, before the same is compiled for integers.

    >>> int64_literal(3).dtype
    dtype('int64')
    """
    return cast(int, np.int64(number))


ZERO: Final = int64_literal(0)
