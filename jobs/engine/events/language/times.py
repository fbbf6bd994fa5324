"""Times: days and microseconds since 1970, read on a clock of a time zone.

A zone knows how far its clocks are ahead of UTC at any instant, and which instant a clock shows, by Java's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from jobs.engine.events.language.vectors import DATE, INSTANT, INT, LOCAL, LONG, Vector, nullify, refuse, strict
from jobs.kernels.arrays import Ints

DAY_SECONDS = 86_400
CYCLE = 146_097 * DAY_SECONDS  # 400 years: as many whole weeks, after which rules fall on the same days again
FIRST, REGULAR = (
    -62_091 * DAY_SECONDS,
    47_482 * DAY_SECONDS,
)  # 1800: every place had its own time before; 2100: rules alone after
STEP = {True: DAY_SECONDS, False: 7 * DAY_SECONDS}  # how closely changes are looked for before 2100, and after
OPEN = ""  # the zone of clocks that only Spark may read, as Java knows other changes of them
UTC_NAMES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00", "UCT", "Zulu", "Etc/GMT")
MANY_DAYS = 1 << 16
SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
OUT_OF_RANGE = "a time whose clock is out of range"


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
        return bool(np.any((last >= first) & (first // DAY_SECONDS != last // DAY_SECONDS)))

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
    return offset.days * DAY_SECONDS + offset.seconds


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


def convert(kind: pa.DataType, a: Vector, zone: str) -> Vector:
    """Return dates as the beginning of their days, times as the dates they are on; instants as their clocks show."""
    if a.type == INSTANT:
        clock = read_clocks(a, zone)
        return clock if kind == LOCAL else strict(kind, (clock.values // DAY).astype(np.int32), clock)
    if kind == DATE:
        return strict(kind, (a.values // DAY).astype(np.int32), a)
    clock = Vector(LOCAL, a.values.astype(np.int64) * DAY, a.valid, a.errors, a.reason) if a.type == DATE else a
    return clock if kind == LOCAL else find_instants(clock, zone)


def read_clocks(a: Vector, zone: str) -> Vector:
    """Return what clocks of a zone show at instants."""
    if is_utc(zone):
        return strict(LOCAL, a.values, a)
    return _move(LOCAL, a, zone_of(zone).ahead(a.values // SECOND))


def find_instants(clock: Vector, zone: str) -> Vector:
    """Return the instants at which clocks of a zone show a time: the earlier one of two; where clocks were set forward,
    as much later as they were set."""
    if is_utc(zone):
        return strict(INSTANT, clock.values, clock)
    return _move(INSTANT, clock, -zone_of(zone).ahead_on_clock(clock.values // SECOND))


def _move(kind: pa.DataType, a: Vector, seconds: Any) -> Vector:
    with np.errstate(all="ignore"):
        moved = a.values + seconds * SECOND
    return refuse(strict(kind, moved, a), (seconds != 0) & ((moved > a.values) != (seconds > 0)), OUT_OF_RANGE)


def clock_of(unit: int, modulus: int) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel that reads a hand of the clock: so many units of microseconds, modulo the next larger unit."""

    def read(kind: pa.DataType, a: Vector) -> Vector:
        return strict(INT, (a.values // unit % modulus).astype(np.int32), a)

    return read


def since_epoch(unit: int) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel that counts whole units since 1970."""

    def count(kind: pa.DataType, a: Vector) -> Vector:
        return strict(LONG, a.values if unit == 1 else a.values // unit, a)

    return count


def civil(days: Any) -> tuple[Any, Any, Any]:
    """Return year, month and day of the month of days since 1970, in the calendar of today extended to all times.

    >>> [int(part[0]) for part in civil(np.array([19_782]))]
    [2024, 2, 29]
    """
    shifted = days.astype(np.int64) + 719_468  # since March 1 of year 0
    era = shifted // 146_097
    day = shifted - era * 146_097
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    of_year = day - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    of_month = of_year - (153 * month + 2) // 5 + 1
    month = np.where(month < 10, month + 3, month - 9)
    return year + era * 400 + (month <= 2), month, of_month


def days_of(year: Any, month: Any, day: Any) -> Any:
    """Return the days from 1970 to a date.

    >>> int(days_of(np.array([2024]), np.array([2]), np.array([29]))[0])
    19782
    """
    year = year - (month <= 2)
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * np.where(month > 2, month - 3, month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def year(kind: pa.DataType, a: Vector) -> Vector:
    """Return the year of dates."""
    return _of_days(a, lambda days: civil(days)[0])


def quarter(kind: pa.DataType, a: Vector) -> Vector:
    """Return the quarter of dates."""
    return _of_days(a, lambda days: (civil(days)[1] + 2) // 3)


def month(kind: pa.DataType, a: Vector) -> Vector:
    """Return the month of dates."""
    return _of_days(a, lambda days: civil(days)[1])


def day(kind: pa.DataType, a: Vector) -> Vector:
    """Return the day of the month of dates."""
    return _of_days(a, lambda days: civil(days)[2])


def day_of_week(kind: pa.DataType, a: Vector) -> Vector:
    """Return the day of the week of dates; Sunday is 1."""
    return _of_days(a, lambda days: (days.astype(np.int64) + 4) % 7 + 1)


def day_of_year(kind: pa.DataType, a: Vector) -> Vector:
    """Return the day of the year of dates."""
    one = np.array([1])
    return _of_days(a, lambda days: days - days_of(civil(days)[0], one, one) + 1)


def _of_days(a: Vector, read: Callable[[Any], Any]) -> Vector:
    """Return what a calendar says of dates; it is asked once a day where events are of few days."""
    days = a.values
    low, high = (int(days.min()), int(days.max())) if len(days) else (0, 0)
    if high - low < min(MANY_DAYS, len(days)):
        return strict(INT, read(np.arange(low, high + 1)).astype(np.int32)[days - low], a)
    return strict(INT, read(days).astype(np.int32), a)


UNITS = {
    **dict.fromkeys(("MICROSECOND",), 1),
    **dict.fromkeys(("MILLISECOND",), 1_000),
    **dict.fromkeys(("SECOND",), SECOND),
    **dict.fromkeys(("MINUTE",), MINUTE),
    **dict.fromkeys(("HOUR",), HOUR),
    **dict.fromkeys(("DAY", "DD"), DAY),
}
CALENDAR = {
    "WEEK": "week",
    **dict.fromkeys(("MON", "MONTH", "MM"), "month"),
    "QUARTER": "quarter",
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
}


@lru_cache(maxsize=64)
def truncate(unit: str, zone: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel that sets the clock of a zone back to the beginning of a unit; null for an unknown unit."""
    name = unit.upper()

    def set_back(kind: pa.DataType, a: Vector) -> Vector:
        if name in CALENDAR:
            days = read_clocks(a, zone).values // DAY
            return find_instants(strict(LOCAL, _first_day(CALENDAR[name], days) * DAY, a), zone)
        if name not in UNITS:
            return nullify(strict(INSTANT, a.values, a), np.ones(len(a), np.bool_))
        if is_utc(zone) or UNITS[name] <= SECOND:
            return strict(INSTANT, a.values - a.values % UNITS[name], a)
        clock = read_clocks(a, zone)
        return _keep_offset(
            strict(LOCAL, clock.values - clock.values % UNITS[name], clock), clock.values - a.values, zone
        )

    return set_back


def _keep_offset(clock: Vector, ahead: Any, zone: str) -> Vector:
    """Return the instants at which clocks show a time; of two, the one at which they are ahead by as much as given."""
    later = clock.values - ahead
    same = zone_of(zone).ahead(later // SECOND) * SECOND == ahead
    return strict(INSTANT, np.where(same, later, find_instants(clock, zone).values), clock)


def _first_day(unit: str, days: Any) -> Any:
    if unit == "week":
        return days - (days + 3) % 7
    year, month, _ = civil(days)
    first = {"month": month, "quarter": (month - 1) // 3 * 3 + 1, "year": np.ones_like(month)}[unit]
    return days_of(year, first, np.ones_like(month))
