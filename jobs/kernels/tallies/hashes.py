"""XxHash64 of values, as Spark computes it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.arrays import Ints

Hashes = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

SEED: Final = np.uint64(42)
P1: Final = np.uint64(0x9E3779B185EBCA87)
P2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
P3: Final = np.uint64(0x165667B19E3779F9)
P4: Final = np.uint64(0x85EBCA77C2B2AE63)
P5: Final = np.uint64(0x27D4EB2F165667C5)


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
