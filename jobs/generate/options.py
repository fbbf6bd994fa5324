"""What a user may ask of generated events, each with its range."""

from __future__ import annotations

from dataclasses import dataclass, fields

from optimizer.errors import HeddleError
from optimizer.workloads.workload import option_name, require

RANGES: dict[str, tuple[float, float]] = {
    "events": (1, 100_000_000_000),
    "seed": (0, 2**63 - 1),
    "rate": (0.001, 10_000_000),
    "keys": (1, 65_536),
    "key_skew": (0, 5),
    "gaps": (0, 0.99),
    "out_of_order": (0, 1),
    "late": (0, 1),
    "nulls": (0, 1),
    "nan": (0, 1),
    "infinities": (0, 1),
    "file_events": (1, 100_000_000),
}


@dataclass(frozen=True)
class Options:
    """How many events, how fast, of which keys, how dirty; shares are between 0 and 1."""

    events: int
    seed: int = 0
    rate: float = 1000.0  # events a second, all keys together
    keys: int = 10
    key_skew: float = 0.0  # Zipf's exponent; 0 takes the keys in turn
    gaps: float = 0.0  # share of the time in which nothing happens
    out_of_order: float = 0.0
    late: float = 0.0
    nulls: float = 0.0
    nan: float = 0.0
    infinities: float = 0.0
    file_events: int = 1_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            require(field.name, getattr(self, field.name), *RANGES[field.name])
        self._require_share("out_of_order", "late")
        self._require_share("nulls", "nan", "infinities")

    def _require_share(self, *names: str) -> None:
        total = sum(getattr(self, name) for name in names)
        if total > 1:
            raise HeddleError(f"{' + '.join(map(option_name, names))} is {total:g}; together they are at most 1")
