"""Several integer columns as one sortable key, so that a million rows are made distinct by one sort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optimizer.windows.columns import IntArray, distinct_sorted

DENSE = 1 << 23  # values up to here are numbered by a table, not by sorting


@dataclass(frozen=True, eq=False)
class Packed:
    """A key for every row, in the order of the columns, and how to take a key apart again."""

    keys: IntArray
    distinct_keys: IntArray  # the distinct keys, ascending
    bases: tuple[int, ...]
    values: tuple[IntArray | None, ...]  # per column, the value of every code; None when the code is the value

    def distinct(self) -> tuple[IntArray, ...]:
        """The columns of the distinct rows, in the order of the columns."""
        rest, columns = self.distinct_keys, []
        for base, values in zip(reversed(self.bases), reversed(self.values), strict=True):
            rest, code = np.divmod(rest, base)
            columns.append(code if values is None else values[code])
        return tuple(reversed(columns))

    def positions(self) -> IntArray:
        """Where among the distinct rows every row is."""
        return np.searchsorted(self.distinct_keys, self.keys)


def pack(*columns: IntArray) -> Packed:
    """Pack the columns; where their values are too large for one key, their ranks are packed instead."""
    coded = [_coded(column, dense=False) for column in columns]
    if _product([base for _, base, _ in coded]) >= 1 << 62:
        coded = [_coded(column, dense=True) for column in columns]
    keys = np.zeros(len(columns[0]), dtype=np.int64)
    for codes, base, _ in coded:
        if base > 1:
            keys = keys * base + codes
    _, bases, values = zip(*coded, strict=True)
    return Packed(keys, distinct_sorted(keys), bases, values)


def _coded(column: IntArray, dense: bool) -> tuple[IntArray, int, IntArray | None]:
    """Codes in the order of the values, how many there may be, and what they stand for."""
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if low >= 0 and high < DENSE and high > 0:
        occurs = np.zeros(high + 1, dtype=np.bool_)
        occurs[column] = True
        values = np.flatnonzero(occurs)
        return (np.cumsum(occurs) - 1)[column], len(values), values
    if low >= 0 and not dense:
        return column, high + 1, None
    values, codes = np.unique(column, return_inverse=True)
    return codes, len(values), values


def _product(bases: list[int]) -> int:
    total = 1
    for base in bases:
        total *= base
    return total
