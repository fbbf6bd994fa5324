"""How a run takes its batches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The user's choices; the defaults evaluate all that has arrived as one batch, then stop."""

    lane: str = "auto"
    files_per_batch: int = 0  # 0: all that has arrived is one batch
    interval: str = ""  # a processing-time trigger, for a run that never ends
    buckets: int = 0  # of a new warehouse; 0: as many as Spark has cores

    @property
    def at_once(self) -> bool:
        """Whether a batch takes all that has arrived, so that a run ends with it."""
        return not self.files_per_batch and not self.interval
