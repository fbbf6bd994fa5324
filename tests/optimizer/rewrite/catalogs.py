"""Random catalogs over odd events, to be asked twice: as the user wrote them, and rewritten."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import dump
from tests.oracle.naive_aggregates import OF_PAIRS

SECOND = 1_000_000
START = datetime(2024, 1, 1, tzinfo=UTC)
ODD = [None, None, math.nan, math.inf, -math.inf, 0.0]
NUMBERS = ("x", "n", "f", "i", "x * 2 + n", "abs(x)")
TAKES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("count", "min", "max", "first", "last", "any_value", "argmin", "argmax"), ("x", "n", "m", "b", "s", "x + n")
    ),
    **dict.fromkeys(("bool_and", "bool_or"), ("b", "x > 0")),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), ("n", "i", "n + i")),
    **dict.fromkeys(("sum", "avg", "range", "sum_squares"), NUMBERS),
    "try_sum": ("x",),
    **dict.fromkeys(OF_PAIRS, ("n", "i")),  # around an infinity, a co-moment depends on the order that Spark adds in
    "product": ("i", "p"),
    "geometric_mean": ("x", "n", "p"),
}
PREDICATES = ("b", "x > 1", "n % 3 = 0", "s >= 'a' OR x IS NULL", "n <> 0 AND 100 / n > 2", "n > 1000")
GROUPINGS: tuple[list[str], ...] = ([], ["k"], ["k", "i"], ["Slice_Start"])


def events(rows: int, seed: int) -> pa.Table:
    """Events at distinct times, some without one."""
    pick = random.Random(seed)
    times = pick.sample(range(60 * SECOND), rows)
    return pa.table(
        {
            "ts": pa.array(
                [None if pick.random() < 0.02 else START + timedelta(microseconds=tick) for tick in times],
                pa.timestamp("us", "UTC"),
            ),
            "k": pa.array([pick.choice(["a", "b", None]) for _ in times]),
            "i": pa.array([pick.choice([None, 1, 2, 3]) for _ in times], pa.int32()),
            "Slice_Start": pa.array([pick.choice([0.5, math.nan, None]) for _ in times]),
            "x": pa.array([pick.choice(ODD) if pick.random() < 0.05 else pick.uniform(-9, 9) for _ in times]),
            "p": pa.array([pick.uniform(0.5, 2) for _ in times]),
            "n": pa.array([pick.choice([None, *range(-5, 20)]) for _ in times], pa.int64()),
            "f": pa.array([pick.choice([None, 0.5, -1.25, 3.75]) for _ in times], pa.float32()),
            "m": pa.array([pick.choice([None, Decimal("1.25"), Decimal("-7.50")]) for _ in times], pa.decimal128(9, 2)),
            "b": pa.array([pick.choice([None, True, False]) for _ in times]),
            "s": pa.array([pick.choice([None, "", "a", "é", "zz"]) for _ in times]),
        }
    )


def entry(name: str, pick: random.Random, aggregates: Iterable[str], keys: list[str]) -> dict[str, Any]:
    """One statement: a window with an offset and a residue now and then, and some aggregates."""
    slide = pick.choice([1, 2, 4, 6, 10, 12]) * SECOND
    residue = pick.choice([0, 0, 0, slide // 3, slide // 2])
    found: dict[str, Any] = {
        "id": name,
        "stream": "odd",
        "select": [f"{_aggregate(aggregate, pick)} AS c{n}" for n, aggregate in enumerate(aggregates)],
        "range": f"{slide * pick.choice([1, 1, 2, 6]) + residue} microseconds",
        "slide": f"{slide} microseconds",
        "offset": f"{pick.choice([0, 0, 0, slide // 4])} microseconds",
        "group_by": list(keys),
    }
    return found | ({"where": pick.choice(PREDICATES)} if pick.random() < 0.4 else {})


def _aggregate(name: str, pick: random.Random) -> str:
    arguments = [pick.choice(TAKES.get(name, NUMBERS))]
    if name == "count" and pick.random() < 0.3:
        arguments = ["*"]
    if AGGREGATES[name].arguments == 2:
        pair = AGGREGATES[name].needs[0].component == "co_moments"
        arguments.append(pick.choice(("n", "i")) if pair else "ts")
    return f"{name}({', '.join(arguments)})"


def random_catalog(folder: Path, seed: int, statements: int = 6, rows: int = 400) -> Catalog:
    """A catalog that asks for every aggregate, and its events."""
    pick = random.Random(seed)
    folder.mkdir(parents=True)
    (folder / "data").mkdir()
    pq.write_table(events(rows, seed), folder / "data" / "part.parquet")
    names = [name for name, aggregate in AGGREGATES.items() if aggregate.kind != "holistic"]
    pick.shuffle(names)
    asked = [[*names[n::statements], *pick.choices(names, k=1)] for n in range(statements)]
    groupings = pick.sample(GROUPINGS, 2)
    queries = [entry(f"q{n}", pick, aggregates, pick.choice(groupings)) for n, aggregates in enumerate(asked)]
    return catalog_of(folder, queries)


def catalog_of(folder: Path, queries: list[dict[str, Any]], source: str = "") -> Catalog:
    """A catalog of these queries over the stream `odd`."""
    streams = {"odd": {"source": {"format": "parquet", "path": source or str(folder / "data")}, "time": "ts"}}
    (folder / "catalog.yaml").write_text(dump({"streams": streams, "queries": queries}), encoding="utf-8")
    return load_catalog(folder)
