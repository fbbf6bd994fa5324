"""What a benchmark ends with: every bound, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A figure and how large it may be, or how small."""

    name: str
    figure: float
    limit: float
    form: str = ".3g"  # as a format has it
    least: bool = False  # whether the limit is the smallest that the figure may be

    @property
    def holds(self) -> bool:
        """Whether the figure is within its bound."""
        return self.figure >= self.limit if self.least else self.figure <= self.limit


def print_verdict(bounds: Sequence[Bound]) -> bool:
    """Print a line per bound and one for all of them; return whether all hold."""
    print()
    for bound in bounds:
        side = "at least" if bound.least else "at most"
        word = "holds" if bound.holds else "FAILS"
        print(f"{word}  {bound.name}: {bound.figure:{bound.form}} ({side} {bound.limit:{bound.form}})")
    missed = sum(not bound.holds for bound in bounds)
    print(f"VERDICT: {f'{missed} of {len(bounds)} bounds missed' if missed else f'all {len(bounds)} bounds hold'}")
    return not missed
