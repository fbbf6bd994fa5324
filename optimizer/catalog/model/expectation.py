"""What a user expects of the events of a stream, or of the answers to a query; an audit looks whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optimizer.catalog.sql.durations import print_duration

CRITICAL, WARNING = "critical", "warning"


@dataclass(frozen=True)
class Expectation:
    """One entry of `expect`: a kind, what it is about, and its bounds.

    >>> Expectation("range", "x", 0, None).text, Expectation("freshness", high=60_000_000, severity=WARNING).text
    ('x is 0 or more', 'the newest event is at most 1 minute old')
    """

    kind: str  # nulls, range, set, volume, freshness; of a query range, change
    column: str = ""  # of the events, or of the result: empty stands for every aggregate
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()  # as Spark writes them
    severity: str = CRITICAL  # keeps a batch from being published; a warning is told and keeps nothing

    @property
    def text(self) -> str:
        """The expectation as a sentence."""
        what = self.column or "an answer"
        if self.kind == "nulls":
            return f"{what} is null in at most {self.high:.4g} of the events"
        if self.kind == "set":
            return f"{what} is one of {', '.join(map(str, self.values))}"
        if self.kind == "freshness":
            return f"the newest event is at most {print_duration(int(self.high or 0))} old"
        if self.kind == "change":
            return f"{what} differs by at most {self.high:.4g} of itself from the window before"
        return f"{'the events of a batch are' if self.kind == 'volume' else f'{what} is'} {self._span()}"

    def _span(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.low:.12g} or more" if self.low is not None else f"{self.high:.12g} or less"
        return f"{self.low:.12g} to {self.high:.12g}"

    def to_entry(self) -> dict[str, Any]:
        """Return the entry as YAML has it."""
        entry: dict[str, Any] = {"column": self.column} if self.column else {}
        if self.kind in ("range", "volume"):
            entry[self.kind] = [bound if bound is None else f"{bound:.12g}" for bound in (self.low, self.high)]
        elif self.kind == "set":
            entry["set"] = list(self.values)
        else:
            entry[self.kind] = print_duration(int(self.high or 0)) if self.kind == "freshness" else f"{self.high:.12g}"
        return entry | ({} if self.severity == CRITICAL else {"severity": self.severity})
