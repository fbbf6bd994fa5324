"""Decimals are folded exactly: sums, averages and picks of any precision, whatever the batches and the technique."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kernels.algebra.finish import divide_rounded
from optimizer.algebra.techniques import CARDS, allowed
from optimizer.errors import HeddleError
from tests.jobs.engine.events.test_odd_files import STAMP
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.oracle import naive
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import World, make_world, query

EXACT = Context(prec=100)
KINDS = [(1, 0), (9, 2), (18, 18), (19, 4), (28, 3), (38, 6), (38, 34)]
CALLS = ["sum(p)", "try_sum(p)", "avg(p)", "try_avg(p)", "min(p)", "max(p)", "max_by(p, n)", "min_by(n, p)", "mean(p)"]
RANGE, SLIDE = 7 * SECOND, 2 * SECOND


def unscaled(kind: tuple[int, int], draw: Any) -> Decimal | None:
    digits = draw.integers(0, kind[0] + 1)
    number = int("".join(map(str, draw.integers(0, 10, digits)))) if digits else 0
    return None if draw.random() < 0.15 else Decimal(int(draw.choice([-1, 1])) * number).scaleb(-kind[1], EXACT)


def rows_of(seed: int, kind: tuple[int, int]) -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    times = draw.integers(0, 40, 60).tolist()
    return [
        {"ts": time * SECOND, "k": int(draw.integers(0, 3)), "n": place * 37 % 61, "p": unscaled(kind, draw)}
        for place, time in enumerate(times)
    ]


def world_of(folder: Path, kind: tuple[int, int], rows: list[dict[str, Any]], calls: list[str], cuts: int) -> World:
    last = [{"ts": 1_000 * SECOND, "k": 9, "n": 0, "p": None}]
    schema = pa.schema([("ts", STAMP), ("k", pa.int64()), ("n", pa.int64()), ("p", pa.decimal128(*kind))])
    batches = [pa.Table.from_pylist(rows[place::cuts], schema) for place in range(cuts)]
    batches.append(pa.Table.from_pylist(last, schema))
    queries = [
        query(f"q{place}_{name}", call, RANGE, SLIDE, group_by=["k"], **more)
        for place, call in enumerate(calls)
        for name, more in (("all", {}), ("few", {"where": "n < 40"}))
    ]
    return make_world(folder, batches, queries, 100 * SECOND)


def expected(call: str, kind: tuple[int, int], rows: list[dict[str, Any]]) -> list[Any]:
    """All right answers of a window; the sum is that of whole numbers, and an average is rounded from it once."""
    values = [row["p"] for row in rows if row["p"] is not None]
    if call.startswith(("max_by", "min_by")):
        pick, x, y = (max, "p", "n") if call.startswith("max_by") else (min, "n", "p")
        best = pick((row[y] for row in rows if row[y] is not None), default=None)
        return [row[x] for row in rows if best is not None and row[y] == best] or [None]
    if not values:
        return [None]
    total = Decimal(0)
    for value in values:
        total = EXACT.add(total, value)
    fits = abs(total.scaleb(kind[1], EXACT)) < 10 ** min(38, kind[0] + 10)
    if "sum" in call:
        return [total if fits else None]
    if call in ("min(p)", "max(p)"):
        return [min(values) if call == "min(p)" else max(values)]
    scale, precision = min(38, kind[1] + 4), min(38, kind[0] + 4)
    mean = EXACT.divide(total, Decimal(len(values))).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    return [mean if fits and abs(mean.scaleb(scale, EXACT)) < 10**precision else None]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_like_decimals_of_python(tmp_path: Path, kind: tuple[int, int], seed: int) -> None:
    rows = rows_of(seed, kind)
    refused = kind[0] == 38  # some windows leave 38 digits
    calls = [call for call in CALLS if not refused or not call.startswith(("sum", "avg", "mean"))]
    world = world_of(tmp_path, kind, rows, calls, cuts=3 * seed - 2)
    plan = world.plan("shared")
    storage, manifests = run_in_process(world, plan, buckets=seed)
    answers = answers_in(world, storage, manifests[-1], plan)
    for place, call in enumerate(calls):
        for name in ("all", "few"):
            id = f"q{place}_{name}"
            asked = world.catalog.query(id)
            passing = [row for row in rows if name == "all" or row["n"] < 40]
            windows = naive.contents(passing, asked.window, ("k",), None)
            assert answers[id].keys() == windows.keys()
            for window, held in windows.items():
                assert answers[id][window] in expected(call, kind, held), (call, name, window)


@pytest.mark.parametrize("technique", [name for name in CARDS if allowed(name, "sum")])
def test_by_every_technique(tmp_path: Path, technique: str) -> None:
    kind = (28, 3)
    rows = rows_of(7, kind)
    world = world_of(tmp_path, kind, rows, ["sum(p)"], cuts=2)
    plan = world.plan("shared", technique)
    storage, manifests = run_in_process(world, plan)
    answers = answers_in(world, storage, manifests[-1], plan)["q0_all"]
    windows = naive.contents(rows, world.catalog.query("q0_all").window, ("k",), None)
    assert answers == {window: expected("sum(p)", kind, held)[0] for window, held in windows.items()}


@pytest.mark.parametrize("call", ["sum(p)", "avg(p)"])
def test_a_sum_that_leaves_its_type(tmp_path: Path, call: str) -> None:
    nines = Decimal(10**38 - 1)
    rows = [{"ts": time * SECOND, "k": 0, "n": 0, "p": nines} for time in range(2)]
    world = world_of(tmp_path, (38, 0), rows, [call], cuts=1)
    with pytest.raises(HeddleError, match=r"^query q0_\w+: the \w+ of a window does not fit into decimal128\(38, \d\)"):
        run_in_process(world, world.plan("shared"))


@given(
    st.lists(st.tuples(st.integers(1 - 10**38, 10**38 - 1), st.integers(1, (1 << 32) - 1)), min_size=1),
    st.sampled_from([1, 10, 10_000]),
)
@settings(deadline=None, max_examples=50)
def test_quotients(pairs: list[tuple[int, int]], factor: int) -> None:
    numbers = [number for number, _ in pairs]
    low = np.array([number & ((1 << 64) - 1) for number in numbers], np.uint64).view(np.int64)
    high = np.array([number >> 64 for number in numbers])
    below, above, is_lost = divide_rounded(low, high, factor, np.array([divisor for _, divisor in pairs]))
    for place, (number, divisor) in enumerate(pairs):
        right = int(EXACT.divide(Decimal(number * factor), Decimal(divisor)).quantize(Decimal(1), ROUND_HALF_UP, EXACT))
        assert is_lost[place] == (abs(right) >= 1 << 127)
        if not is_lost[place]:
            assert (int(above[place]) << 64) + int(below.view(np.uint64)[place]) == right
