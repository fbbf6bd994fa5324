"""Time zones as Java has them: whether the file lane's clocks change when Spark's do."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jobs.engine.events.zones import is_utc, zone_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Change = tuple[int, int, int]  # when, in seconds since 1970, and by how much clocks are ahead before and after
OFFSET = r"Z|[+-][0-9:]+"
CHANGE = re.compile(rf"Transition\[(?:Gap|Overlap) at (\S+?)({OFFSET}) to ({OFFSET})\]")
YEARS = range(2100, 2104)  # for which rules are compared


def knows_changes(spark: SparkSession, zone: str) -> bool:
    """Whether clocks of a zone are set here when Java sets them: both bring their own list of changes."""
    if is_utc(zone):
        return True
    rules = spark._jvm.java.time.ZoneId.of(zone).getRules()  # type: ignore[union-attr]  # there is a JVM
    listed = read_changes(rules.getTransitions().toString())
    by_rule = [change for rule in rules.getTransitionRules() for change in _changes_by_rule(rule)]
    known = zone_of(zone)
    ours = list(zip(known.changes.tolist(), known.offsets[:-1].tolist(), known.offsets[1:].tolist(), strict=True))
    last = listed[-1][0] if listed else -(1 << 63)
    later = [change for change in ours if change[0] > last]
    return [change for change in ours if change[0] <= last] == listed and sorted(by_rule) == _in_years(later)


def _changes_by_rule(rule: Any) -> list[Change]:
    return read_changes(" ".join(str(rule.createTransition(year)) for year in YEARS))


def _in_years(changes: list[Change]) -> list[Change]:
    return [change for change in changes if (datetime(1970, 1, 1) + timedelta(seconds=change[0])).year in YEARS]


def read_changes(text: str) -> list[Change]:
    """Return the changes that Java has written down.

    >>> read_changes("[Transition[Overlap at 1893-04-01T00:00+00:53:28 to +00:50], ...]")
    [(-2422054408, 3208, 3000)]
    """
    return [_change(*parts) for parts in CHANGE.findall(text)]


def _change(clock: str, before: str, after: str) -> Change:
    shown = datetime.fromisoformat(clock) - datetime(1970, 1, 1)
    return shown.days * 86_400 + shown.seconds - _seconds(before), _seconds(before), _seconds(after)


def _seconds(offset: str) -> int:
    """Return an offset in seconds.

    >>> _seconds("-00:53:28"), _seconds("Z")
    (-3208, 0)
    """
    if offset == "Z":
        return 0
    hours, minutes, seconds = (*map(int, offset[1:].split(":")), 0)[:3]
    return (-1 if offset[0] == "-" else 1) * (hours * 3_600 + minutes * 60 + seconds)
