"""An audit as data: what it looked at, and its checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from expectations.suites.validate import Check, sentences


@dataclass
class Audit:
    """What an audit looked at and what it found."""

    stream: str
    statements: int
    windows: int
    rows: int
    checks: list[Check]
    results: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as JSON takes it."""
        return {
            "stream": self.stream,
            "passed": self.passed,
            "statements": self.statements,
            "windows": self.windows,
            "rows": self.rows,
            "checks": [check.to_dict() for check in self.checks],
        }

    @property
    def sentences(self) -> dict[str, str]:
        """Return what Great Expectations says is expected, by check."""
        return sentences(self.results)
