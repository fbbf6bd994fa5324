"""Edges as arithmetic progressions: (period, residue) stands for {residue + k * period}, 0 <= residue < period.

Windows with equal edges collapse into one class, a million at a time. Small number theory is here as well: what edges
and their counters need of primes and divisors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from math import gcd, lcm
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import HeddleError
from optimizer.windows.window import PAIRS, PANES, SLICINGS, Window

Progression = tuple[int, int]  # (period, residue)
Edges = tuple[Progression, ...]  # ascending, so that equal sets of progressions are equal and have one text
FEW_PERIODS = 48  # are tried one by one; of more, the divisors are
Integers = NDArray[np.int64]
LONGEST_TABLE = 1 << 22
HASHES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)


@lru_cache(maxsize=1 << 16)
def progressions(window: Window, slicing: str = "pairs") -> Edges:
    """Return the edges of a window, canonical: two windows have equal edges if and only if these are equal.

    >>> progressions(Window(range=7, slide=3, offset=1))  # starts at 1, 4, 7, ...; ends at 8, 11, 14, ...
    ((3, 1), (3, 2))
    """
    if window.slide <= 0 or window.range <= 0:
        raise HeddleError(
            f"range {window.range} and slide {window.slide}: a window needs both to be positive; give them at least 1"
        )
    if slicing not in SLICINGS:
        raise HeddleError(f"there is no slicing {slicing!r}; use one of {', '.join(SLICINGS)}")
    return canonical(SLICINGS[slicing].edges(window))


def all_progressions(parts: Iterable[Edges]) -> Edges:
    """Return every progression of several edge sets once, contained ones and all: quicker than `union`.

    >>> all_progressions([((4, 0),), ((2, 0), (4, 0))])
    ((2, 0), (4, 0))
    """
    return tuple(sorted({progression for part in parts for progression in part}))


def union(parts: Iterable[Edges]) -> Edges:
    """Return the edges of a tree, canonical: what its windows' edges hold together.

    >>> union([((4, 0),), ((2, 0),)])
    ((2, 0),)
    """
    return canonical(progression for part in parts for progression in part)


def canonical(edges: Iterable[Progression]) -> Edges:
    """Return the edges with complete residue systems joined and contained progressions dropped.

    >>> canonical([(6, 1), (6, 3), (6, 5), (4, 2)])  # 1, 3, 5 modulo 6 are the odd ticks
    ((2, 1), (4, 2))
    """
    remaining = drop_contained(edges)
    while wholes := _complete_systems(remaining):
        remaining = drop_contained(wholes.union(remaining))
    return remaining


def drop_contained(edges: Iterable[Progression]) -> Edges:
    """Return the progressions that no other one contains.

    >>> drop_contained([(4, 1), (8, 5), (8, 6)])
    ((4, 1), (8, 6))
    """
    outermost: dict[Progression, None] = {}  # in the order in which they come: ascending
    periods: dict[int, None] = {}
    ascending = sorted(set(edges))
    step = gcd(*(size for size, _ in ascending))
    for size, progressions_of_size in groupby(ascending, key=itemgetter(0)):
        outer_sizes = divisors_among(size, periods, step)
        for progression in progressions_of_size:
            if not any((outer, progression[1] % outer) in outermost for outer in outer_sizes):
                outermost[progression] = None
                periods[size] = None
    return tuple(outermost)


def divisors_among(size: int, periods: Collection[int], step: int) -> list[int]:
    """Return which of the periods divide `size`; `step` divides them all.

    >>> divisors_among(12, [4, 6, 8], step=2)
    [4, 6]
    """
    if len(periods) <= FEW_PERIODS:
        return [outer for outer in periods if size % outer == 0]
    return [outer for divisor in divisors(size // step) if (outer := divisor * step) in periods]


def intersection(left: Progression, right: Progression) -> Progression | None:
    """Return the common edges of two progressions, by the Chinese remainder theorem; None when there are none.

    >>> intersection((4, 1), (6, 3)), intersection((4, 1), (6, 2))  # 9, 21, 33, ...; odd and even never meet
    ((12, 9), None)
    """
    (size, residue), (other, remainder) = left, right
    common = gcd(size, other)
    steps, apart = divmod(remainder - residue, common)
    if apart:
        return None
    whole = size // common * other
    return whole, (residue + size * (steps * pow(size // common, -1, other // common) % (other // common))) % whole


def period(edges: Iterable[Progression]) -> int:
    """Return after how many ticks the edges repeat.

    >>> period([(4, 1), (6, 0)])
    12
    """
    return lcm(*(progression[0] for progression in edges))


def common_step(edges: Edges) -> tuple[int, int]:
    """Return (step, shift) such that every edge is `shift` and a multiple of `step`, the largest there is.

    >>> common_step(((4, 1), (6, 3)))
    (2, 1)
    """
    shift = min(edges)[1]
    return gcd(*(size for size, _ in edges), *(residue - shift for _, residue in edges)), shift


def rescaled(edges: Edges, step: int, shift: int) -> Edges:
    """Return the edges counted in steps from `shift` on.

    >>> rescaled(((4, 1), (6, 3)), step=2, shift=1)
    ((2, 0), (3, 1))
    """
    return tuple(sorted((size // step, (residue - shift) % size // step) for size, residue in edges))


def _complete_systems(edges: Edges) -> set[Progression]:
    """Return what complete systems are together: all q of {r, r + p/q, r + 2p/q, ...} modulo p are r modulo p/q.

    A prime q is enough: other systems are joined in several rounds.
    """
    wholes: set[Progression] = set()
    for size, progressions_of_size in groupby(edges, key=itemgetter(0)):
        residues = [residue for _, residue in progressions_of_size]
        for parts in factorize(size) if len(residues) > 1 else ():
            if parts <= len(residues):
                counts = Counter(residue % (size // parts) for residue in residues)
                wholes.update((size // parts, residue) for residue, count in counts.items() if count == parts)
    return wholes


@cache
def factorize(number: int) -> Mapping[int, int]:
    """Return prime -> exponent, by trial division.

    >>> factorize(360)
    {2: 3, 3: 2, 5: 1}
    """
    factors: dict[int, int] = {}
    prime = 2
    while prime * prime <= number:
        while number % prime == 0:
            factors[prime] = factors.get(prime, 0) + 1
            number //= prime
        prime += 1 if prime == 2 else 2
    if number > 1:
        factors[number] = factors.get(number, 0) + 1
    return factors


def factorize_lcm(numbers: Iterable[int]) -> dict[int, int]:
    """Return the factors of the least common multiple, which may itself be far too large to factorize.

    >>> factorize_lcm([12, 18])
    {2: 2, 3: 2}
    """
    factors: dict[int, int] = {}
    for number in numbers:
        for prime, exponent in factorize(number).items():
            factors[prime] = max(exponent, factors.get(prime, 0))
    return factors


def divisor_weights(factors: Mapping[int, int]) -> dict[int, int]:
    """Return every divisor d of L, and how many of 0..L-1 have it as greatest common divisor with L: phi(L / d).

    >>> divisor_weights({2: 1, 3: 1})
    {1: 2, 2: 2, 3: 1, 6: 1}
    """
    weights = {1: 1}
    for prime, exponent in factors.items():
        powers = {prime**power: prime ** (exponent - power - 1) * (prime - 1) for power in range(exponent)}
        powers[prime**exponent] = 1
        weights = {d * power: w * count for d, w in weights.items() for power, count in powers.items()}
    return dict(sorted(weights.items()))


def divisors(number: int) -> list[int]:
    """Return all divisors, ascending.

    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return list(divisor_weights(factorize(number)))


def collapse(
    ranges: Integers, slides: Integers, offsets: Integers | None = None, slicing: str = PAIRS
) -> tuple[list[Edges], Integers]:
    """Return the distinct edge classes of windows given as columns, and every window's class.

    >>> classes, class_of = collapse(np.array([10, 20, 7]), np.array([5, 5, 3]))
    >>> classes, class_of.tolist()
    ([((3, 0), (3, 1)), ((5, 0),)], [1, 1, 0])
    >>> collapse(np.array([10, 20, 7]), np.array([4, 4, 3]), slicing="panes")[0]
    [((1, 0),), ((2, 0),), ((4, 0),)]
    """
    if slicing != PAIRS:  # the pairs of a tumbling window are its starts alone
        slides = np.gcd(ranges, slides) if slicing == PANES else slides
        ranges = slides
    sizes, place = distinct(slides)
    starts = np.zeros_like(slides) if offsets is None else offsets % slides
    ends = (starts + ranges) % slides
    if not ends.any() and not starts.any():
        return [((size, 0),) for size in sizes.tolist()], place
    (lows, low), (highs, high) = distinct(np.minimum(starts, ends)), distinct(np.maximum(starts, ends))
    keys, index = distinct((place * len(lows) + low) * len(highs) + high)
    columns = sizes[keys // (len(lows) * len(highs))], lows[keys // len(highs) % len(lows)], highs[keys % len(highs)]
    number_of: dict[Edges, int] = {}
    numbers = [
        number_of.setdefault(_pair(size, start, end), len(number_of))
        for size, start, end in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return list(number_of), np.array(numbers, dtype=np.int64)[index]


def _pair(size: int, start: int, end: int) -> Edges:
    """Two progressions of one period, canonical; two that halve their period are one."""
    if 2 * (end - start) == size:
        return ((size // 2, start),)
    return ((size, start), (size, end)) if start != end else ((size, start),)


def distinct(keys: Integers) -> tuple[Integers, Integers]:
    """Return the distinct keys, ascending, and where every key is among them: by a table if one fits, else by sorting.

    >>> [column.tolist() for column in distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    for slots, size in _tables(keys):
        owner = np.zeros(size, dtype=np.int64)
        owner[slots] = keys
        if np.array_equal(owner[slots], keys):  # no two keys in one slot
            has_owner = np.zeros(size, dtype=np.bool_)
            has_owner[slots] = True
            slots_used = np.flatnonzero(has_owner)
            slots_used = slots_used[np.argsort(owner[slots_used])]
            rank = np.zeros(size, dtype=np.int64)
            rank[slots_used] = np.arange(len(slots_used))
            return owner[slots_used], rank[slots]
    values, index = np.unique(keys, return_inverse=True)
    return values, index.astype(np.int64)


def _tables(keys: Integers) -> Iterator[tuple[Integers, int]]:
    """Return a slot for every key and the number of slots: the key itself when keys are close together, else hashes."""
    low, high = int(keys.min(initial=0)), int(keys.max(initial=0))
    if high - low < LONGEST_TABLE:
        yield keys - low, high - low + 1
        return
    if len(np.unique(keys[:1000])) == min(1000, len(keys)):
        return  # hardly a key comes twice: sorting is quicker than failing
    for multiplier in HASHES:
        yield ((keys.view(np.uint64) * np.uint64(multiplier)) >> np.uint64(44)).astype(np.int64), 1 << 20
