"""Small number theory: what edge counting needs of primes and divisors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache


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
