"""How far every Omega is from counted operations: `python -m benchmarks.omega_errors`."""

from __future__ import annotations

from random import Random
from statistics import median

from optimizer.windows import Window
from tests.oracle.operations import OPERATIONS, omega_error
from tests.oracle.operations.bounds import BOUNDS

TREES = 25


def every_edge(random: Random) -> list[Window]:
    """The papers' setting: every window ends at every edge."""
    return [Window(random.randint(8, 80), 1) for _ in range(random.randint(1, 6))]


def factors(random: Random) -> list[Window]:
    """Slides from the factors of 20, no fragments."""
    slides = [random.choice([1, 2, 4, 5, 10, 20]) for _ in range(random.randint(1, 6))]
    return [Window(slide * random.randint(2, 12), slide) for slide in slides]


def fragments(random: Random) -> list[Window]:
    """Slides from the factors of 24, ranges of any length."""
    slides = [random.choice([2, 3, 4, 6, 8, 12]) for _ in range(random.randint(1, 5))]
    return [Window(random.randint(slide, 12 * slide), slide) for slide in slides]


def main() -> None:
    """Print the least, the median and the largest error, positive where Omega says too much."""
    print(f"{'technique':<20}{'trees':<12}{'least':>8}{'median':>8}{'most':>8}  {'bound':<34}why")
    for technique, bound in BOUNDS.items():
        form = f"{bound.low:g}*O-{bound.below:g}*Q .. {bound.high:g}*O+{bound.above:g}*Q+{bound.logs:g}*log2(1+n)"
        _print_errors(technique, f"{form:<34}{bound.reason}")
    _print_errors("slick_deque_noninv", "equation 7 with the mean length of a deque, H(n)", corrected=True)


def _print_errors(technique: str, note: str, corrected: bool = False) -> None:
    for kind in (every_edge, factors, fragments):
        random = Random(kind.__name__)
        errors = sorted(omega_error(technique, kind(random), corrected) for _ in range(TREES))
        print(f"{technique:<20}{kind.__name__:<12}{errors[0]:>8.0%}{median(errors):>8.0%}{errors[-1]:>8.0%}  {note}")


if __name__ == "__main__":
    assert set(BOUNDS) == set(OPERATIONS)
    main()
