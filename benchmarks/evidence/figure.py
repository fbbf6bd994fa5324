"""What a part measures (Figure, Reading), and what a paper reports beside it (Claim)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

CLAIMS = Path(__file__).parents[1] / "papers" / "claims"
ENOUGH, PARTLY = 0.8, 2.0  # of a paper's gain: what counts as holding; times its number: what holds partly
Progress = Callable[[str], None]
Points = dict[str, list[tuple[float, float]]]  # by name of the series: x and y


@dataclass(frozen=True)
class Size:
    """How much of an experiment to run: everything a large machine can, or what two cores do in minutes."""

    full: bool = False
    small: bool = False  # the smallest that has the shape of the page, for a test

    @property
    def name(self) -> str:
        """What a finished part remembers of it."""
        return "full" if self.full else "small" if self.small else "usual"

    def of(self, small: Any, usual: Any, full: Any) -> Any:
        """Return what fits the size.

        >>> Size().of(1, 5, 10), Size(full=True).of(1, 5, 10), Size(small=True).of(1, 5, 10)
        (5, 10, 1)
        """
        return full if self.full else small if self.small else usual


@dataclass(frozen=True)
class Reading:
    """One number of ours, beside the claim of a paper that has the same key; `why` says where they differ and why."""

    key: str
    value: float
    why: str = ""
    at: tuple[float, float] | None = None  # where the paper's number is in our plot


@dataclass(frozen=True)
class Figure:
    """A plot with its numbers: one experiment, or one of its panels."""

    name: str
    title: str
    x: str
    y: str
    points: Points
    readings: list[Reading] = field(default_factory=list)
    log_x: bool = True
    log_y: bool = True
    note: str = ""
    joined: bool = True  # by lines
    labels: list[str] = field(default_factory=list)  # of x = 0, 1, ...: groups of bars, where x is no number

    def to_json(self) -> dict[str, Any]:
        """Return the figure as plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Figure:
        """Return the figure that became plain data."""
        points = {name: [(x, y) for x, y in line] for name, line in data["points"].items()}
        readings = [Reading(**{**reading, "at": _place(reading.get("at"))}) for reading in data["readings"]]
        return cls(**{**data, "points": points, "readings": readings})


@dataclass(frozen=True)
class Claim:
    """A number that a paper reports: in which figure and section, of what."""

    paper: str
    key: str
    figure: str
    section: str
    says: str
    value: float
    unit: str = ""
    sense: str = "least"  # ours should be at least the paper's ("least"), at most ("most"), or alike ("like")

    def holds(self, value: float) -> str:
        """Say whether the claim holds of our value: yes, partly (the same direction, but less of it), or no.

        >>> gain = Claim("a paper", "gain", "Fig. 1", "5", "throughput against the second best", 2.0, "times")
        >>> gain.holds(2.5), gain.holds(1.3), gain.holds(0.9)
        ('yes', 'partly', 'no')
        >>> Claim("a paper", "gain", "Fig. 1", "5", "throughput against the second best", 1.07, "times").holds(0.98)
        'no'
        """
        if self.sense == "like":
            near = max(value, self.value) / max(min(value, self.value), 1e-9)
            return "yes" if near <= 1 / ENOUGH else "partly" if near <= PARTLY else "no"
        if self.sense == "most":
            return "yes" if value <= self.value / ENOUGH else "partly" if value <= self.value * PARTLY else "no"
        nothing = 1.0 if self.unit == "times" else 0.0
        enough = value - nothing >= ENOUGH * (self.value - nothing)
        return "yes" if enough else "partly" if value > nothing else "no"


def load_claims(folder: Path = CLAIMS) -> dict[str, Claim]:
    """Return the claims of all papers by key."""
    claims: dict[str, Claim] = {}
    for path in sorted(folder.glob("*.yaml")):
        page = yaml.safe_load(path.read_text())
        for entry in page["claims"]:
            claim = Claim(paper=page["paper"], **{name: _plain(value) for name, value in entry.items()})
            if claim.key in claims:
                raise ValueError(f"{path.name}: two claims are called {claim.key}")
            claims[claim.key] = claim
    return claims


def _place(pair: Sequence[float] | None) -> tuple[float, float] | None:
    return (pair[0], pair[1]) if pair else None


def _plain(value: object) -> object:
    return value if isinstance(value, str | float) else float(value) if isinstance(value, int) else str(value)


def ratio(top: Sequence[tuple[float, float]], bottom: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the quotient of two lines where both have a point.

    >>> ratio([(1, 6.0), (2, 8.0)], [(2, 4.0)])
    [(2, 2.0)]
    """
    below = dict(bottom)
    return [(x, y / below[x]) for x, y in top if x in below]
