"""The array types that kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]  # float64 or int64
Rows = NDArray[Any]  # float64 or int64
Words = NDArray[np.int64]
