"""Small number theory: what edge counting needs of primes and divisors."""

from __future__ import annotations

from functools import cache
from math import prod


@cache
def factorize(number: int) -> dict[int, int]:
    """Prime -> exponent, by trial division; do not change the result, it is shared."""
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


def divisors(number: int) -> list[int]:
    """All divisors, ascending."""
    found = [1]
    for prime, exponent in factorize(number).items():
        found = [divisor * prime**power for divisor in found for power in range(exponent + 1)]
    return sorted(found)


def totient(number: int) -> int:
    """Euler's phi: how many of 1..number have no factor in common with it."""
    return prod((prime - 1) * prime ** (exponent - 1) for prime, exponent in factorize(number).items())
