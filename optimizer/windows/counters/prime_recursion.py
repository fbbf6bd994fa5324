"""Residues modulo different prime powers are independent: recurse over the primes, on any catalog.

A progression is a tuple of digits ((prime, exponent, residue modulo prime**exponent), ...) and a chance `miss`: the
probability that it misses an x that all its digits fit; it starts at 0. A prime that only one progression has needs no
branches: it goes into that progression's miss. What remains is cut into components that share no prime; a component
branches over the residues modulo one prime, and equal components are counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Generic, TypeVar

from optimizer.windows.edges import Edges, drop_contained, factorize

Number = TypeVar("Number", Fraction, float)
Digits = tuple[tuple[int, int, int], ...]
System = dict[Digits, Number]

BUDGET = 500_000  # progressions visited, which a budget counts instead of seconds so that plans are reproducible

MOST_COMPONENTS = 1 << 18


class BudgetError(Exception):
    """The recursion visited more progressions than it was allowed."""


def applies(edges: Edges) -> bool:
    """Return True: it counts any catalog, but how long that takes depends on how the primes are shared.

    >>> applies(((4, 0), (6, 0)))
    True
    """
    return True


def rate(edges: Edges, budget: int = BUDGET) -> Fraction:
    """Return the share of all ticks that are edges.

    >>> rate(((4, 0), (6, 0)))
    Fraction(1, 3)
    """
    return 1 - Recursion(Fraction(1)).missed(edges, budget)


class Recursion(Generic[Number]):
    """A memo of components. `one` decides the arithmetic: Fraction(1) is exact, 1.0 is fast."""

    def __init__(self, one: Number) -> None:
        self._one: Number = one
        self.zero: Number = one - one
        self._memo: dict[frozenset[tuple[Digits, Number]], Number] = {}
        self.left = 0

    def missed(self, edges: Edges, budget: int = BUDGET) -> Number:
        """Return the share of ticks that no progression hits; `left` tells what it left of the budget.

        >>> Recursion(Fraction(1)).missed(((4, 0), (6, 0))), Recursion(1.0).missed(((4, 0),))
        (Fraction(2, 3), 0.75)
        """
        self.left = budget
        if len(self._memo) > MOST_COMPONENTS:
            self._memo.clear()
        try:
            return self._none({_digits(size, residue): self.zero for size, residue in drop_contained(edges)})
        except RecursionError:
            raise BudgetError from None

    def _none(self, system: System[Number]) -> Number:
        """Return the chance that all progressions miss; a progression without digits is down to its own miss."""
        self.left -= len(system)
        if self.left < 0:
            raise BudgetError
        _strip_private(system, self._one)
        chance = system.pop((), self._one)
        if chance:
            for component in _components(system):
                chance = chance * self._component(component)
        return chance

    def _component(self, system: System[Number]) -> Number:
        key = frozenset(system.items())
        chance = self._memo.get(key)
        if chance is None:
            chance = self._memo[key] = self._branch(system, _branching_prime(system))
        return chance

    def _branch(self, system: System[Number], prime: int) -> Number:
        """Average over x modulo `prime`; the residues that no progression names are alike."""
        free: System[Number] = {}
        branches: dict[int, System[Number]] = {}
        for digits, miss in system.items():
            residue, rest = _split(digits, prime)
            _add(free if residue < 0 else branches.setdefault(residue, {}), rest, miss)
        total = self.zero
        if len(branches) < prime:
            total = (prime - len(branches)) * self._none(dict(free))
        for branch in branches.values():
            for digits, miss in free.items():
                _add(branch, digits, miss)
            total = total + self._none(_drop_contained(branch))
        return total / prime


def _digits(size: int, residue: int) -> Digits:
    return tuple((prime, power, residue % prime**power) for prime, power in sorted(factorize(size).items()))


def _split(digits: Digits, prime: int) -> tuple[int, Digits]:
    """Return the residue modulo `prime` (-1 without that prime), and the digits that are left once it is known."""
    for place, (base, exponent, residue) in enumerate(digits):
        if base == prime:
            left = ((prime, exponent - 1, residue // prime),) if exponent > 1 else ()
            return residue % prime, digits[:place] + left + digits[place + 1 :]
    return -1, digits


def _add(system: System[Number], digits: Digits, miss: Number) -> None:
    """Two progressions with the same digits miss independently."""
    system[digits] = system[digits] * miss if digits in system else miss


def _drop_contained(system: System[Number]) -> System[Number]:
    """Without the progressions that a certain one contains; a certain one hits whenever its digits fit."""
    certain: dict[int, list[Digits]] = {}  # by largest prime, which whatever it contains has too
    for digits, miss in system.items():
        if not miss and digits:
            certain.setdefault(digits[-1][0], []).append(digits)
    remaining: System[Number] = {}
    for digits, miss in system.items():
        powers = {prime: (power, residue) for prime, power, residue in digits}
        rivals = (outer for prime in powers for outer in certain.get(prime, ()) if outer != digits)
        if not any(_covers(outer, powers) for outer in rivals):
            remaining[digits] = miss
    return remaining


def _covers(outer: Digits, inner: dict[int, tuple[int, int]]) -> bool:
    for prime, power, residue in outer:
        digit = inner.get(prime)
        if digit is None or digit[0] < power or digit[1] % prime**power != residue:
            return False
    return True


def _strip_private(system: System[Number], one: Number) -> None:
    """Turn primes that one progression has alone into its chance to miss; repeat, since equals then join."""
    while private := _private_primes(system):
        for digits in set(private.values()):
            alone = prod(prime**power for prime, power, _ in digits if prime in private)
            rest = tuple(digit for digit in digits if digit[0] not in private)
            _add(system, rest, one - (one - system.pop(digits)) / alone)


def _private_primes(system: System[Number]) -> dict[int, Digits]:
    owners: dict[int, Digits] = {}
    shared: set[int] = set()
    for digits in system:
        for prime, _, _ in digits:
            if prime in owners:
                shared.add(prime)
            owners[prime] = digits
    return {prime: owner for prime, owner in owners.items() if prime not in shared}


def _components(system: System[Number]) -> Iterator[System[Number]]:
    """Yield progressions linked by common primes, together."""
    holders: dict[int, list[Digits]] = {}
    for digits in system:
        for prime, _, _ in digits:
            holders.setdefault(prime, []).append(digits)
    left = dict(system)
    while left:
        first = next(iter(left))
        group, reached = {first: left.pop(first)}, [first]
        for digits in reached:  # grows while it is walked
            for prime, _, _ in digits:
                for other in holders.pop(prime, ()):
                    if other in left:
                        group[other] = left.pop(other)
                        reached.append(other)
        yield group


def _branching_prime(system: System[Number]) -> int:
    """Return the prime that most progressions have: every branch then keeps few of them, and the rest falls apart."""
    count: dict[int, int] = {}
    for digits in system:
        for prime, _, _ in digits:
            count[prime] = count.get(prime, 0) + 1
    return max(count, key=lambda prime: (count[prime], prime))
