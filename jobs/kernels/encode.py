"""What is not a number, as ordered int64 codes, so that min and max of it are min and max of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jobs.kernels.columns import Bools, Ints


def encode_strings(values: Sequence[str | None] | NDArray[Any]) -> tuple[Ints, Bools, list[str]]:
    """Codes, which values are not null, and the dictionary: code i is dictionary[i], in Spark's order of strings.

    Spark compares the bytes of UTF-8. That is the order of code points, which is Python's order of str as well.
    """
    valid = np.array([value is not None for value in values], np.bool_)
    dictionary = sorted({value for value in values if value is not None})
    code_of = {value: code for code, value in enumerate(dictionary)}
    codes = np.array([0 if value is None else code_of[value] for value in values], np.int64)
    return codes, valid, dictionary


def decode_strings(codes: Ints, valid: Bools, dictionary: Sequence[str]) -> NDArray[np.object_]:
    """The strings of codes; None where null."""
    words = np.array([*dictionary, None], object)
    answer: NDArray[np.object_] = words[np.where(valid, codes, len(dictionary))]
    return answer


def encode_ordered(values: NDArray[Any]) -> Ints:
    """Booleans, dates and timestamps as the int64 that keeps their order; integers as they are."""
    if values.dtype.kind in "mM":
        return values.astype(np.int64)
    return np.ascontiguousarray(values, np.int64)


def decode_ordered(codes: Ints, kind: np.dtype[Any]) -> NDArray[Any]:
    """The values that encode_ordered has encoded."""
    return codes.astype(kind)
