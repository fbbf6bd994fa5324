"""Time zones: how far clocks are ahead of UTC at any instant, and which instant a clock shows, by Java's rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from jobs.kernels.arrays import Ints

DAY = 86_400
CYCLE = 146_097 * DAY  # 400 years: as many whole weeks, after which rules fall on the same days again
FIRST, REGULAR = -62_091 * DAY, 47_482 * DAY  # 1800: every place had its own time before; 2100: rules alone after
STEP = {True: DAY, False: 7 * DAY}  # how closely changes are looked for before 2100, and after
OPEN = ""  # the zone of clocks that only Spark may read, as Java knows other changes of them
UTC_NAMES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UCT", "Zulu", "Etc/GMT")


@dataclass(frozen=True)
class Zone:
    """The changes of a zone's clocks, in seconds since 1970, and by how many seconds they are ahead between them.

    A clock that is set forward skips what lies between; one that is set back shows it twice. `clock_changes` is where
    clocks stand from which on no instant before the change is meant: Java takes the offset before a change for both."""

    changes: Ints
    offsets: Ints  # one more than changes
    clock_changes: Ints

    def ahead(self, seconds: Ints) -> Ints:
        """Return by how many seconds clocks are ahead of UTC at instants.

        >>> zone_of("Europe/Berlin").ahead(np.array([1_711_846_799, 1_711_846_800])).tolist()  # 2024-03-31, 1 o'clock
        [3600, 7200]
        """
        return self._between(self.changes, seconds)

    def ahead_on_clock(self, seconds: Ints) -> Ints:
        """Return by how many seconds clocks are ahead of UTC that show so many seconds since 1970.

        >>> half_past_two = np.array([1_711_852_200, 1_729_996_200])  # skipped in March, shown twice in October
        >>> zone_of("Europe/Berlin").ahead_on_clock(half_past_two).tolist()
        [3600, 7200]
        """
        return self._between(self.clock_changes, seconds)

    @cached_property
    def repeats_dates(self) -> bool:
        """Whether clocks were ever set back over midnight, so that a date came to an end twice."""
        first, last = self.changes + self.offsets[1:], self.changes + self.offsets[:-1] - 1
        return bool(np.any((last >= first) & (first // DAY != last // DAY)))

    def _between(self, bounds: Ints, seconds: Ints) -> Ints:
        if not len(seconds):
            return seconds
        if int(seconds.max()) >= REGULAR:
            seconds = np.where(seconds < REGULAR, seconds, REGULAR + (seconds - REGULAR) % CYCLE)
        low, high = np.searchsorted(bounds, [seconds.min(), seconds.max()], side="right")
        if low == high:
            return np.broadcast_to(self.offsets[low], seconds.shape)
        return np.asarray(self.offsets[low + np.searchsorted(bounds[low:high], seconds, side="right")])


@lru_cache(maxsize=16)
def zone_of(name: str) -> Zone:
    """Return the changes of a zone, from 1800 on; those after 2100 come again every 400 years."""
    zone = ZoneInfo(name)
    probes = [*range(FIRST, REGULAR, STEP[True]), *range(REGULAR, REGULAR + CYCLE + 1, STEP[False])]
    offsets = [_offset(zone, second) for second in probes]
    pairs = zip(zip(probes, offsets, strict=True), zip(probes[1:], offsets[1:], strict=True), strict=False)
    changes = [_search(zone, low, high) for (low, before), (high, after) in pairs if before != after]
    ahead = np.array([offsets[0], *(_offset(zone, second) for second in changes)], np.int64)
    instants = np.array(changes, np.int64)
    return Zone(instants, ahead, instants + np.maximum(ahead[1:], ahead[:-1]))


def _offset(zone: ZoneInfo, second: int) -> int:
    offset = datetime.fromtimestamp(second, UTC).astimezone(zone).utcoffset()
    assert offset is not None
    return offset.days * DAY + offset.seconds


def _search(zone: ZoneInfo, low: int, high: int) -> int:
    """Return the first second at which clocks are ahead as they are at the end, and not as at the beginning."""
    before = _offset(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
    return high


def is_utc(name: str) -> bool:
    """Return whether clocks of a zone show UTC."""
    return name in UTC_NAMES
