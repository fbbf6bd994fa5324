"""Keys, slices and signatures by the thousand: no product of their numbers overflows, and every key is an event's."""

from __future__ import annotations

import random
from collections import Counter
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engine.events.keys import LARGEST, combine_codes, key_codes
from jobs.engine.slices.cells import cells_of_starts
from optimizer.planning.stream import plan_stream
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.jobs.engine.shard_plans import CHEAP, Imagined
from tests.worlds.streams import SECOND, instant
from tests.worlds.warehouse import STREAM, make_world, query

COUNTS = st.lists(st.sampled_from([1, 2, 3, 1_000, 65_537, 1 << 31, (1 << 32) - 1]), min_size=2, max_size=9)


@settings(deadline=None)
@given(COUNTS, st.integers(0, 40), st.integers(0, 1 << 20))
def test_combinations_are_those_of_the_rows(counts: list[int], rows: int, seed: int) -> None:
    pick = random.Random(seed)
    codes = [[pick.choice([0, 1, count // 2, count - 1]) % count for _ in range(rows)] for count in counts]
    parts = [(np.array(column, np.int64), count) for column, count in zip(codes, counts, strict=True)]
    combined = combine_codes(parts)
    distinct = list(zip(*(place.tolist() for place in combined.places), strict=True))
    assert [distinct[code] for code in combined.codes] == list(zip(*codes, strict=True))
    assert len(set(distinct)) == len(distinct)


@pytest.mark.parametrize("groups", [4, 1 << 40, 1 << 62])
def test_cells_are_key_by_key_whatever_the_number_of_keys(groups: int) -> None:
    pick = random.Random(groups)
    codes = np.array([pick.choice([0, 1, groups // 2, groups - 1]) for _ in range(300)])
    start = np.array([pick.randrange(-5, 5) * SECOND for _ in range(300)])
    cells = cells_of_starts(start, codes, groups)
    places = list(zip(cells.code.tolist(), cells.start.tolist(), strict=True))
    assert places == sorted(set(zip(codes.tolist(), start.tolist(), strict=True)))
    assert [places[cell] for cell in cells.cell] == list(zip(codes.tolist(), start.tolist(), strict=True))


EVENTS, VALUES = 2_000, 1_500
LAST = 55 * SECOND  # of the event that lets the windows of all others end
KEYS = [f"k{number}" for number in range(8)]


def many_valued(seed: int) -> pa.Table:
    """Events whose eight keys have so many values that their product is far beyond 63 bits; some rows are alike."""
    pick = random.Random(seed)
    rows = [[pick.randrange(VALUES) for _ in KEYS] for _ in range(EVENTS * 3 // 4)]
    rows += [list(pick.choice(rows)) for _ in range(EVENTS - len(rows))]
    columns = {
        key: pa.array([f"{key} {row[place]}" if place % 2 else row[place] for row in rows])
        for place, key in enumerate(KEYS)
    }
    seconds = [*(pick.randrange(20) for _ in rows[1:]), LAST // SECOND]
    times = pa.array([instant(second * SECOND) for second in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "x": pa.array([float(pick.randrange(100)) for _ in rows]), **columns})


@pytest.mark.parametrize("sharded", [False, True])
def test_the_engine_groups_as_a_dictionary_does(sharded: bool, tmp_path: Path) -> None:
    table = many_valued(3)
    assert prod(len(table[key].unique()) for key in KEYS) > LARGEST
    rows = set(zip(*table.select(KEYS).to_pydict().values(), strict=True))
    assert key_codes(table.select(KEYS)).distinct.num_rows == len(rows)
    groupings = {"all_of_them": KEYS, "seven": KEYS[1:], "two": KEYS[:2]}
    queries = [query(id, "count(*)", 5 * SECOND, group_by=keys, where="x >= 10") for id, keys in groupings.items()]
    queries += [query("most", "count(*)", 5 * SECOND, group_by=KEYS, where="x >= 50")]
    world = make_world(tmp_path, [table.slice(0, 900), table.slice(900)], queries, 20 * SECOND)
    recent = Imagined(CHEAP) if sharded else None
    plan = plan_stream(world.catalog, STREAM, 1000.0, "shared", recent=recent, technique="auto")
    assert any(tree.sharded for tree in plan.trees) == sharded
    storage, manifests = run_in_process(world, plan, buckets=3)
    found = answers_in(world, storage, manifests[-1], plan)
    for id, keys, least in [*((id, keys, 10) for id, keys in groupings.items()), ("most", KEYS, 50)]:
        expected = Counter(
            (tuple(row[key] for key in keys), row["ts"].second // 5 * 5 * SECOND)
            for row in table.to_pylist()
            if row["x"] >= least
        )
        assert found[id] == {place: count for place, count in expected.items() if place[1] < LAST}
        assert len(found[id]) > 500
