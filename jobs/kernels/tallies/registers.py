"""HyperLogLog++ of windows: XxHash64 of values, registers merged by their maximum, and Spark's estimate of them.

A tally of registers has the number of a register as its code, and the largest rank it has met. The tables of raw
estimates, biases and thresholds are those of Spark's own class; tools/hyperloglog.py has written them down.
"""

from __future__ import annotations

import json
from functools import cache
from math import ceil, log
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.arrays import Column, Ints

Hashes = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
SEED: Final = np.uint64(42)
P1: Final = np.uint64(0x9E3779B185EBCA87)
P2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
P3: Final = np.uint64(0x165667B19E3779F9)
P4: Final = np.uint64(0x85EBCA77C2B2AE63)
P5: Final = np.uint64(0x27D4EB2F165667C5)
TABLES: Final = Path(__file__).with_name("hyperloglog.json")
NEAREST: Final = 6  # raw estimates whose biases are averaged
MOST: Final = 1 << 26  # bytes of a stack of registers; beyond, every window is merged anew
Registers = NDArray[np.uint8]


@njit(cache=True, nogil=True)
def _rotate(x: Any, bits: int) -> Any:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def _finish(h: Any) -> Any:
    h = (h ^ (h >> np.uint64(33))) * P2
    h = (h ^ (h >> np.uint64(29))) * P3
    return h ^ (h >> np.uint64(32))


@njit(cache=True, nogil=True)
def _round(total: Any, word: Any) -> Any:
    return _rotate(total + word * P2, 31) * P1


@njit(cache=True, nogil=True)
def hash_longs(values: Ints) -> Hashes:
    """Return the hashes of numbers of 64 bits.

    >>> hash_longs(np.array([1])).view(np.int64).tolist()
    [-7001672635703045582]
    """
    out = np.empty(values.size, np.uint64)
    for i in range(values.size):
        h = SEED + P5 + np.uint64(8)
        h ^= _round(np.uint64(0), np.uint64(values[i]))
        out[i] = _finish(_rotate(h, 27) * P1 + P4)
    return out


@njit(cache=True, nogil=True)
def hash_ints(values: Ints) -> Hashes:
    """Return the hashes of numbers of 32 bits.

    >>> hash_ints(np.array([1])).view(np.int64).tolist()
    [-6698625589789238999]
    """
    out = np.empty(values.size, np.uint64)
    for i in range(values.size):
        h = SEED + P5 + np.uint64(4)
        h ^= (np.uint64(values[i]) & np.uint64(0xFFFFFFFF)) * P1
        out[i] = _finish(_rotate(h, 23) * P2 + P3)
    return out


@njit(cache=True, nogil=True)
def _word(data: Bytes, at: int, size: int) -> Any:
    word = np.uint64(0)
    for i in range(size):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return word


@njit(cache=True, nogil=True)
def _hash_bytes(data: Bytes, at: int, end: int) -> Any:
    size = np.uint64(end - at)
    if end - at >= 32:
        v1, v2, v3, v4 = SEED + P1 + P2, SEED + P2, SEED, SEED - P1
        while at <= end - 32:
            v1 = _round(v1, _word(data, at, 8))
            v2 = _round(v2, _word(data, at + 8, 8))
            v3 = _round(v3, _word(data, at + 16, 8))
            v4 = _round(v4, _word(data, at + 24, 8))
            at += 32
        h = _rotate(v1, 1) + _rotate(v2, 7) + _rotate(v3, 12) + _rotate(v4, 18)
        for v in (v1, v2, v3, v4):
            h = (h ^ _round(np.uint64(0), v)) * P1 + P4
    else:
        h = SEED + P5
    h += size
    while at <= end - 8:
        h = _rotate(h ^ _round(np.uint64(0), _word(data, at, 8)), 27) * P1 + P4
        at += 8
    if at <= end - 4:
        h = _rotate(h ^ (_word(data, at, 4) * P1), 23) * P2 + P3
        at += 4
    while at < end:
        h = _rotate(h ^ (np.uint64(data[at]) * P5), 11) * P1
        at += 1
    return _finish(h)


@njit(cache=True, nogil=True)
def hash_texts(data: Bytes, offsets: Ints) -> Hashes:
    """Return the hashes of runs of bytes: number i is data[offsets[i]:offsets[i + 1]].

    >>> hash_texts(np.frombuffer(b"ABC", np.uint8).copy(), np.array([0, 3])).view(np.int64).tolist()
    [4105715581806190027]
    """
    out = np.empty(offsets.size - 1, np.uint64)
    for i in range(out.size):
        out[i] = _hash_bytes(data, offsets[i], offsets[i + 1])
    return out


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
