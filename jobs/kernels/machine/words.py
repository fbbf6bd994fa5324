"""Rows as 64-bit words, so that every technique is compiled once and not once per kind of number.

A kernel's rows are int64; where its op code has the bit FLOAT, their bits are those of float64.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from jobs.kernels.algebra import operators
from jobs.kernels.arrays import Words

FLOAT: Final = 16


@njit(cache=True)
def combine(op: int, a: Words, i: int, b: Words, j: int, out: Words, k: int) -> None:
    """out[k] = a[i] combined with b[j], in this order; out may be a or b."""
    if op & FLOAT:
        floats = out.view(np.float64)
        operators.combine(op ^ FLOAT, a.view(np.float64), i, b.view(np.float64), j, floats, k)
    else:
        operators.combine(op, a, i, b, j, out, k)


@njit(cache=True)
def selects_right(op: int, a: Words, i: int, b: Words, j: int) -> bool:
    """Whether a selective operator picks row j of b over the earlier row i of a."""
    if op & FLOAT:
        return bool(operators.selects_right(op ^ FLOAT, a.view(np.float64), i, b.view(np.float64), j))
    return bool(operators.selects_right(op, a, i, b, j))
