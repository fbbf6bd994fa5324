"""Numbers that numba takes for what they are: integers.

A literal has a type of its own there. Whatever is called with one is compiled for it apart, and so is all that it
calls in turn, before the same is compiled for integers.
"""

from __future__ import annotations

from typing import Final, cast

import numpy as np


def numeral(number: int) -> int:
    """The number as an int64."""
    return cast(int, np.int64(number))


ZERO: Final = numeral(0)
