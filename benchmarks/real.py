"""Real events: are the answers plain Spark's, and how far is the estimate off?

    python -m benchmarks.real --data FOLDER [--time ts] [--value value] [--key COLUMN] [--unit 1] [--queries 100]

FOLDER holds Parquet files of any stream with a timestamp. Windows are those of the engine's middle point, in ticks of
so many seconds as suit the stream. Printed: the CPU seconds that the plan was estimated to take, by the prices of
`heddle calibrate`, and that it took; and the rows that differ from plain Spark's, of some queries.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from benchmarks.engine_world import World, measured, middle_point, write_queries
from benchmarks.plain_spark import plain_spark
from jobs.measure.machine_prices import load_prices
from jobs.measure.stream import measure_stream
from jobs.results import results_table
from optimizer.plan.prices import operations_for
from optimizer.planning.stream import plan_stream
from optimizer.windows.window import Window

FILES = 4


def write_events(folder: Path, data: Path, time: str, value: str, key: str) -> int:
    """Write the columns that queries need, in order of time, under the names of the engine's benchmarks."""
    table = ds.dataset(data).to_table(columns=[time, value, *([key] if key else [])]).sort_by(time)
    columns = {"ts": table[time].cast(pa.timestamp("us", "UTC")), "value": table[value].cast(pa.float64())}
    columns["machine"] = pc.fill_null(table[key].cast(pa.string()), "") if key else pa.array([""] * len(table))
    folder.mkdir(parents=True)
    events = pa.table(columns)
    each = -(-len(events) // FILES)
    for number in range(FILES):
        pq.write_table(events.slice(number * each, each), folder / f"part-{number:06d}.parquet")
    return len(events)


def rows_apart(place: World, warehouse: Path, query: str) -> tuple[int, int]:
    """Return how many rows a query has, and how many of them are not plain Spark's."""
    table = pl.DataFrame(results_table(str(warehouse), place.catalog, query))
    start = pl.col("window").struct.field("start").dt.replace_time_zone(None).dt.cast_time_unit("us")
    ours = table.select("machine", start.alias("start"), pl.col(table.columns[-1]).alias("answer"))
    plain_spark("native", place.root, query)
    theirs = pl.read_parquet(place.root / "native" / "*.parquet")
    theirs = theirs.with_columns(pl.col("start").dt.replace_time_zone(None).dt.cast_time_unit("us"))
    both = ours.join(theirs, on=["machine", "start"], how="left")
    alike = (pl.col("answer") - pl.col("theirs")).abs() <= 1e-9 * pl.col("answer").abs().clip(1.0)
    return len(ours), len(ours) - both.filter(alike).height


def main() -> None:
    """Evaluate, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--time", default="ts")
    parser.add_argument("--value", default="value")
    parser.add_argument("--key", default="")
    parser.add_argument("--unit", type=int, default=1, help="seconds of a tick of the windows")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--compared", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        events = write_events(root / "data", given.data, given.time, given.value, given.key)
        windows = [Window(each.range * given.unit, each.slide * given.unit) for each in middle_point(given.queries)]
        catalog = write_queries(root / "catalog", windows, grouped=True)
        known, prices = measure_stream(catalog, "events"), load_prices()
        plan = plan_stream(catalog, "events", known.rate, keys=known.planned_keys, recent=known.recent, prices=prices)
        place = World(root, catalog, plan)
        (took,) = measured(place.local, times=3, warm=2, clear=place.clear)
        place.local()
        (warehouse,) = (root / "warehouses").iterdir()
        print(f"{events:,} events of {given.data.name} at {known.rate:.4g} a second, {given.queries} queries")
        estimate = prices.seconds(operations_for(plan, events)) if prices else None
        said = f"{estimate:.3f} estimated" if estimate else "no estimate: `heddle calibrate` has not run here"
        print(f"  CPU seconds: {took:.3f} measured, {said}")
        apart = 0
        shortest = sorted(catalog.queries, key=lambda query: (query.window.range, query.id))
        for query in shortest[:: max(1, len(shortest) // given.compared)][: given.compared]:
            rows, wrong = rows_apart(place, warehouse, query.id)
            apart += wrong
            print(f"  {query.id}: {rows:,} rows, {wrong:,} unlike plain Spark's", flush=True)
    sys.exit(apart > 0)


if __name__ == "__main__":
    main()
