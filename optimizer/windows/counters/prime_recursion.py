"""Residues modulo different prime powers are independent: recurse over the primes, on any catalog.

A progression is a tuple of digits ((prime, exponent, residue modulo prime**exponent), ...) and a chance `miss`: the
probability that it misses an x that all its digits fit. It starts at 0. A prime that only one progression has needs no
branches: it goes into that progression's miss. What remains is cut into components that share no prime; a component
branches over the residues modulo one prime, and equal components are counted once.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Generic, TypeVar

from optimizer.windows.edges import Progressions, drop_contained
from optimizer.windows.primes import factorize

Number = TypeVar("Number", Fraction, float)
Digits = tuple[tuple[int, int, int], ...]
System = dict[Digits, Number]


class OutOfBudget(Exception):
    """The recursion met more components than it was allowed."""


def rate(edges: Progressions, budget: int = 1_000_000) -> Fraction:
    """The share of all ticks that are edges."""
    return 1 - Recursion(Fraction(1), budget).missed(edges)


class Recursion(Generic[Number]):
    """One memo of components; `one` decides the arithmetic: Fraction(1) is exact, 1.0 is fast."""

    def __init__(self, one: Number, budget: int) -> None:
        self._one = one
        self._budget = budget
        self._memo: dict[frozenset[tuple[Digits, Number]], Number] = {}

    def missed(self, edges: Progressions) -> Number:
        """The share of ticks that no progression hits."""
        zero = self._one - self._one
        return self._none({_digits(size, residue): zero for size, residue in drop_contained(edges)})

    def _none(self, system: System[Number]) -> Number:
        if system.get((), self._one) == 0:
            return self._one - self._one
        chance = system.pop((), self._one)
        _strip_private(system, self._one)
        if () in system:
            chance = chance * system.pop(())
        for component in _components(system):
            chance = chance * self._component(component)
        return chance

    def _component(self, system: System[Number]) -> Number:
        if len(system) == 1:
            return self._single(system)
        key = frozenset(system.items())
        if key not in self._memo:
            if len(self._memo) >= self._budget:
                raise OutOfBudget
            self._memo[key] = self._branch(system, _branching_prime(system))
        return self._memo[key]

    def _single(self, system: System[Number]) -> Number:
        ((digits, miss),) = system.items()
        size = 1
        for prime, exponent, _ in digits:
            size *= prime**exponent
        return self._one - (self._one - miss) / size

    def _branch(self, system: System[Number], prime: int) -> Number:
        """Sum over x modulo `prime`; the residues that no progression names are alike."""
        free: System[Number] = {}
        branches: dict[int, System[Number]] = {}
        for digits, miss in system.items():
            split = _split(digits, prime)
            if split is None:
                _add(free, digits, miss)
            else:
                residue, rest = split
                _add(branches.setdefault(residue, {}), rest, miss)
        total = (prime - len(branches)) * self._none(_reduced(free)) if len(branches) < prime else self._one - self._one
        for branch in branches.values():
            for digits, miss in free.items():
                _add(branch, digits, miss)
            total = total + self._none(_reduced(branch))
        return total / prime


def _digits(size: int, residue: int) -> Digits:
    return tuple((prime, power, residue % prime**power) for prime, power in sorted(factorize(size).items()))


def _split(digits: Digits, prime: int) -> tuple[int, Digits] | None:
    """The residue modulo `prime` and the digits that are left once it is known; None without that prime."""
    for place, (base, exponent, residue) in enumerate(digits):
        if base == prime:
            left = ((prime, exponent - 1, residue // prime),) if exponent > 1 else ()
            return residue % prime, digits[:place] + left + digits[place + 1 :]
    return None


def _add(system: System[Number], digits: Digits, miss: Number) -> None:
    """Two progressions with the same digits miss independently."""
    system[digits] = system[digits] * miss if digits in system else miss


def _reduced(system: System[Number]) -> System[Number]:
    """Without the progressions that a certain one contains."""
    certain = [
        dict((prime, (power, residue)) for prime, power, residue in digits)
        for digits, miss in system.items()
        if miss == 0
    ]
    if not certain:
        return dict(system)
    kept: System[Number] = {}
    for digits, miss in system.items():
        own = {prime: (power, residue) for prime, power, residue in digits}
        if not any(outer is not own and outer != own and _covers(outer, own) for outer in certain):
            kept[digits] = miss
    return kept


def _covers(outer: dict[int, tuple[int, int]], inner: dict[int, tuple[int, int]]) -> bool:
    for prime, (power, residue) in outer.items():
        held = inner.get(prime)
        if held is None or held[0] < power or held[1] % prime**power != residue:
            return False
    return True


def _strip_private(system: System[Number], one: Number) -> None:
    """Turn primes that one progression has alone into its chance to miss; repeat, since equals then join."""
    while True:
        owners: dict[int, Digits | None] = {}
        for digits in system:
            for prime, _, _ in digits:
                owners[prime] = None if prime in owners else digits
        private = {prime for prime, owner in owners.items() if owner is not None}
        if not private:
            return
        for digits in {owner for owner in owners.values() if owner is not None}:
            miss = system.pop(digits)
            share = one
            for prime, power, _ in digits:
                if prime in private:
                    share = share / prime**power
            rest = tuple(digit for digit in digits if digit[0] not in private)
            _add(system, rest, one - share * (one - miss))


def _components(system: System[Number]) -> Iterable[System[Number]]:
    """Progressions linked by common primes, together."""
    home: dict[int, int] = {}
    groups: dict[int, System[Number]] = {}
    for number, (digits, miss) in enumerate(system.items()):
        group = {digits: miss}
        for met in {home[prime] for prime, _, _ in digits if prime in home}:
            group.update(groups.pop(met))
        groups[number] = group
        for member in group:
            for prime, _, _ in member:
                home[prime] = number
    return groups.values()


def _branching_prime(system: System[Number]) -> int:
    """The prime with the fewest progressions: it leaves the least to do again in every branch."""
    count: dict[int, int] = {}
    for digits in system:
        for prime, _, _ in digits:
            count[prime] = count.get(prime, 0) + 1
    return min(count, key=lambda prime: (count[prime], -prime))
