"""HyperLogLog++ of windows: registers merged by their maximum, and Spark's estimate of them.

A tally of registers has the number of a register as its code, and the largest rank it has met. The tables of raw
estimates, biases and thresholds are those of Spark's own class; tools/hyperloglog.py has written them down.
"""

from __future__ import annotations

import json
from functools import cache
from math import ceil, log
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.arrays import Column, Ints
from jobs.kernels.tallies.hashes import Hashes

TABLES: Final = Path(__file__).with_name("hyperloglog.json")
NEAREST: Final = 6  # raw estimates whose biases are averaged
MOST: Final = 1 << 26  # bytes of a stack of registers; beyond, every window is merged anew
Registers = NDArray[np.uint8]


def precision_of(deviation: float) -> int:
    """Return how many bits of a hash name its register, for a relative standard deviation of the estimate.

    >>> precision_of(0.05), precision_of(0.01)
    (9, 14)
    """
    return ceil(2.0 * log(1.106 / deviation) / log(2.0))


def rank_hashes(hashes: Hashes, precision: int) -> tuple[Ints, Ints]:
    """Return the register of every hash, and its rank there: the place of the first bit that is set.

    >>> registers, ranks = rank_hashes(np.array([1 << 63 | 1 << 50, 3], np.uint64), 9)
    >>> registers.tolist(), ranks.tolist()
    ([256, 0], [5, 54])
    """
    registers, ranks = np.empty(len(hashes), np.int64), np.empty(len(hashes), np.int64)
    _rank(hashes, precision, registers, ranks)
    return registers, ranks


@njit(cache=True, nogil=True)
def _rank(hashes: Hashes, precision: int, registers: Ints, ranks: Ints) -> None:
    top = np.uint64(1) << np.uint64(63)
    for i in range(hashes.size):
        registers[i] = np.int64(hashes[i] >> np.uint64(64 - precision))
        rest = (hashes[i] << np.uint64(precision)) | (np.uint64(1) << np.uint64(precision - 1))
        rank = 1
        while not rest & top:
            rest <<= np.uint64(1)
            rank += 1
        ranks[i] = rank


class Estimator(NamedTuple):
    """What Spark's estimate is computed from: by empty registers, by rank, and the tables of biases."""

    by_empty: Column  # linear counting; infinity where no register is empty
    threshold: float  # up to which linear counting is to be trusted
    few: float  # raw estimates up to which it is, too
    weights: Column
    scale: float
    raw: Column
    bias: Column
    limit: float  # raw estimates below it are corrected


@cache
def estimator(precision: int) -> Estimator:
    """Return the estimator for so many bits of precision.

    >>> estimator(9).few  # 2.5 times 512 registers
    1280.0
    """
    tables = json.loads(TABLES.read_text(encoding="utf-8"))
    size = 1 << precision
    alpha = {4: 0.673, 5: 0.697, 6: 0.709}.get(precision, 0.7213 / (1.0 + 1.079 / size))
    empty = np.arange(1, size + 1)
    linear = np.array([np.inf, *(size * np.log(size / empty))])
    has_tables = precision - 4 < len(tables["raw"])
    threshold = tables["thresholds"][precision - 4] if precision - 4 < len(tables["thresholds"]) else 0.0
    raw, bias = (np.array(tables[name][precision - 4] if has_tables else [0.0]) for name in ("raw", "bias"))
    # Spark shifts a number of 32 bits by the rank: beyond 31 it begins again
    weights = 1.0 / np.array([np.int32(np.uint32(1 << (rank & 31)).view(np.int32)) for rank in range(65)])
    limit = 5.0 * size if has_tables else -np.inf
    return Estimator(linear, threshold, 2.5 * size, weights, alpha * size * size, raw, bias, limit)


def estimate_windows(precision: int, offsets: Ints, codes: Ints, ranks: Ints, lo: Ints, hi: Ints) -> Ints:
    """Return the estimated number of distinct values in every window [lo, hi) of slices, whose bounds ascend.

    >>> offsets, codes, ranks = np.array([0, 2, 3]), np.array([3, 200, 3]), np.array([1, 2, 5])
    >>> estimate_windows(9, offsets, codes, ranks, np.array([0, 1]), np.array([2, 2])).tolist()
    [2, 1]
    """
    out = np.zeros(len(lo), np.int64)
    if len(lo):
        size, longest = 1 << precision, int((hi - lo).max())
        rows = longest if longest * size <= MOST else 0
        stack = np.zeros((rows, size), np.uint8)
        _estimate_windows(offsets, codes, ranks, lo, hi, stack, np.zeros(size, np.uint8), estimator(precision), out)
    return out


@njit(cache=True, nogil=True)
def _raise(registers: Registers, offsets: Ints, codes: Ints, ranks: Ints, low: int, high: int) -> None:
    for e in range(offsets[low], offsets[high]):
        registers[codes[e]] = max(registers[codes[e]], np.uint8(ranks[e]))


@njit(cache=True, nogil=True)
def _estimate(registers: Registers, others: Registers, spark: Estimator) -> int:
    total, empty = 0.0, 0
    for i in range(registers.size):
        rank = max(registers[i], others[i])
        total += spark.weights[rank]
        empty += rank == 0
    estimate, linear = spark.scale / total, spark.by_empty[empty]
    if empty and (linear <= spark.threshold or estimate <= spark.few):
        estimate = linear
    elif estimate < spark.limit:
        estimate -= _bias(estimate, spark.raw, spark.bias)
    return int(np.floor(estimate + 0.5))


@njit(cache=True, nogil=True)
def _bias(estimate: float, raw: Column, bias: Column) -> float:
    size = raw.size
    low = int(np.searchsorted(raw, estimate)) - NEAREST + 1
    low = low if low > 0 else 0
    high = low + NEAREST if low + NEAREST < size else size
    while high < size and (estimate - raw[high]) ** 2 < (estimate - raw[low]) ** 2:
        low += 1
        high += 1
    total = 0.0
    for i in range(low, high):
        total += bias[i]
    return total / (high - low)


@njit(cache=True, nogil=True)
def _estimate_windows(
    offsets: Ints,
    codes: Ints,
    ranks: Ints,
    lo: Ints,
    hi: Ints,
    stack: Registers,
    front: Registers,
    spark: Estimator,
    out: Ints,
) -> None:
    nothing = np.zeros(front.size, np.uint8)
    base = flip = end = 0
    for i in range(lo.size):
        low, high = lo[i], hi[i]
        if not stack.size:
            front[:] = 0
            _raise(front, offsets, codes, ranks, low, high)
            out[i] = _estimate(front, nothing, spark)
            continue
        if low >= flip:
            for j in range(high - 1, low - 1, -1):
                stack[j - low, :] = stack[j + 1 - low] if j + 1 < high else nothing
                _raise(stack[j - low], offsets, codes, ranks, j, j + 1)
            front[:] = 0
            base, flip, end = low, high, high
        _raise(front, offsets, codes, ranks, end, high)
        end = high
        out[i] = _estimate(stack[low - base], front, spark)
