"""Answers that all values of a window tell: distinct counts, percentiles, the most frequent value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.engine.finals.answers import answers
from jobs.engine.finals.fold import Finals
from jobs.engine.finals.gather import gather
from jobs.engine.finals.tally_answers import OF_VALUES
from jobs.engine.warehouse.state_files import StateFiles
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.finals.partials import event, only_root, partials_of
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import query

NUMBERS = {0: [3, 1, 3], 4: [None], 8: [5, 2, 2, 9, 9]}  # those of the windows of four seconds that begin at a second
EVENTS = [event(start + place % 4, "a", n) for start, numbers in NUMBERS.items() for place, n in enumerate(numbers)]


def answers_to(folder: Path, select: str, events: list[dict[str, Any]] = EVENTS) -> list[Any]:
    """The answers of all windows, in order."""
    program, incoming = partials_of(folder, events, [query("q", select, 4 * SECOND)])
    grouping, tree = only_root(program)
    clock = (BEGINNING, 12 * SECOND)
    gathered = gather(grouping, tree, {}, StateFiles(Storage(""), []), incoming, clock)
    assert gathered is not None
    assert gathered.slices is not None
    (answer,) = answers(Finals(gathered.slices, tree, *clock, gathered.bounds))
    return list(answer.value.to_pylist())


CASES: list[tuple[str, list[Any]]] = [
    ("count(DISTINCT n)", [2, 0, 3]),
    ("sum(DISTINCT n)", [4, None, 16]),
    ("avg(DISTINCT n)", [2.0, None, 16 / 3]),
    ("approx_count_distinct(n)", [2, 0, 3]),
    ("median(n)", [3.0, None, 5.0]),
    ("percentile(n, 0.25)", [2.0, None, 2.0]),
    ("percentile(n, array(0.0, 1.0))", [[1.0, 3.0], None, [2.0, 9.0]]),
    ("percentile_approx(n, 0.5)", [3, None, 5]),
    ("percentile_disc(0.3) WITHIN GROUP (ORDER BY n)", [1.0, None, 2.0]),
    ("percentile_disc(0.3) WITHIN GROUP (ORDER BY n DESC)", [3.0, None, 9.0]),
    ("percentile_cont(0.5) WITHIN GROUP (ORDER BY n)", [3.0, None, 5.0]),
    ("percentile_cont(0.3) WITHIN GROUP (ORDER BY n DESC)", [3.0, None, 8.2]),
]


@pytest.mark.parametrize(("select", "expected"), CASES)
def test_answers_from_values(tmp_path: Path, select: str, expected: list[Any]) -> None:
    assert answers_to(tmp_path, select) == expected


def test_every_aggregate_of_values_is_tried() -> None:
    """By its own name, or by the SQL of one that has none."""
    distinct = {f"{name}_distinct": f"{name}(DISTINCT" for name in ("count", "sum", "avg")}
    descending = {name: f"{name.removesuffix('_desc')}(0.3) WITHIN GROUP (ORDER BY n DESC)" for name in OF_VALUES}
    tried = " ".join(["mode(n)", *(select for select, _ in CASES)])
    written = {
        name: descending[name] if name.endswith("_desc") else distinct.get(name, f"{name}(") for name in OF_VALUES
    }
    assert [name for name, sql in written.items() if sql not in tried] == []


def test_the_most_frequent_value(tmp_path: Path) -> None:
    first, second, third = answers_to(tmp_path, "mode(n)")
    assert (first, second) == (3, None)
    assert third in (2, 9), "both come twice, and Spark may take either"


def test_a_sum_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    large = [event(second, "a", (1 << 62) + second) for second in range(3)]
    with pytest.raises(HeddleError, match="query q: the sum of a window does not fit into int64"):
        answers_to(tmp_path, "sum(DISTINCT n)", large)
