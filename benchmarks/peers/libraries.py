"""polars, pandas and DuckDB as a careful user would write them: every peer at its best, by hand, in one thread.

Each aggregates the events by second once, on a grid without gaps. A query folds the seconds into its slides, rolls a
frame over the slides, and writes its answers as Parquet: machine, start of the window, answer. Windows must be whole
seconds, and ranges whole slides, as they are here.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # CPU time is what is compared

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds

from benchmarks.engine_world import SECOND, World
from optimizer.catalog.model.query import Query

Answer = Callable[[Query, Path], object]  # writes what a query answers
FOLDER = "polars"  # of a world, which clears it


def answer_all(place: World, library: str, queries: Sequence[Query]) -> Path:
    """Let a library answer queries; return the folder with a file for each."""
    folder = place.root / FOLDER
    folder.mkdir()
    answer = LIBRARIES[library](place)
    for query in queries:
        answer(query, folder / f"{query.id}.parquet")
    return folder


def in_polars(place: World) -> Answer:
    """A column for every machine, a row for every second."""
    machine, tick, value = pl.col("machine"), pl.col("ts").dt.epoch("s").alias("tick"), pl.col("value")
    events = pl.scan_parquet(str(place.data / "*.parquet"))
    seconds = events.group_by(machine, tick).agg(value.max().alias("max"), value.sum().alias("sum")).collect()
    grid = pl.DataFrame({"tick": np.arange(seconds["tick"].min(), seconds["tick"].max() + 1)})  # type: ignore[operator]
    wide = {
        name: grid.join(
            seconds.pivot("machine", index="tick", values=name), on="tick", how="left", maintain_order="left"
        )
        for name in ("max", "sum")
    }
    machines = pl.exclude("tick")

    def answer(query: Query, path: Path) -> None:
        slide, slides = _slide(query)
        fold = machines.max() if query.aggregate == "max" else pl.when(machines.count() > 0).then(machines.sum())
        folded = wide[query.aggregate].group_by(pl.col("tick") // slide, maintain_order=True).agg(fold)
        roll = machines.rolling_max if query.aggregate == "max" else machines.rolling_sum
        rolled = folded.with_columns(roll(slides, min_samples=1))
        start = pl.from_epoch((pl.col("tick") - slides + 1) * slide, "s").alias("start")
        long = rolled.with_columns(start).unpivot(index=["tick", "start"], variable_name="machine", value_name="theirs")
        long.select("machine", "start", "theirs").drop_nulls().write_parquet(path)

    return answer


def in_pandas(place: World) -> Answer:
    """The same, by pandas."""
    events = ds.dataset(place.data).to_table(columns=["ts", "machine", "value"]).to_pandas()
    second = events["ts"].dt.floor("s").dt.tz_localize(None)
    seconds = events.groupby(["machine", second], observed=True)["value"].agg(["max", "sum"]).unstack("machine")
    grid = seconds.reindex(pd.date_range(seconds.index[0], seconds.index[-1], freq="s", unit="s"))
    ticks = grid.index.asi8

    def answer(query: Query, path: Path) -> None:
        slide, slides = _slide(query)
        by_slide = grid[query.aggregate].groupby(ticks // slide)
        folded = by_slide.max() if query.aggregate == "max" else by_slide.sum(min_count=1)
        frame = folded.rolling(slides, min_periods=1)
        rolled = frame.max() if query.aggregate == "max" else frame.sum()
        rolled.index = pd.to_datetime((rolled.index - slides + 1) * slide, unit="s")
        long = rolled.rename_axis("start").stack().rename("theirs").reset_index()
        long.to_parquet(path, index=False)

    return answer


def in_duckdb(place: World) -> Answer:
    """The same in SQL: a frame of rows over the slides of every machine."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        "CREATE TABLE found AS SELECT machine, epoch_us(ts) // 1000000 AS tick, max(value) AS max, sum(value) AS sum "
        f"FROM read_parquet('{place.data}/*.parquet') GROUP BY ALL"
    )
    connection.execute(
        "CREATE TABLE seconds AS SELECT * FROM (SELECT DISTINCT machine FROM found) CROSS JOIN "
        "(SELECT unnest(range((SELECT min(tick) FROM found), (SELECT max(tick) + 1 FROM found))) AS tick) "
        "LEFT JOIN found USING (machine, tick)"
    )

    def answer(query: Query, path: Path) -> None:
        slide, slides = _slide(query)
        fold = query.aggregate
        connection.execute(
            f"COPY (SELECT machine, make_timestamp((tick - {slides - 1}) * {slide * SECOND}) AS start, {fold}(value) "
            f"OVER (PARTITION BY machine ORDER BY tick ROWS {slides - 1} PRECEDING) AS theirs FROM "
            f"(SELECT machine, tick // {slide} AS tick, {fold}({fold}) AS value FROM seconds GROUP BY ALL)) "
            f"TO '{path}' (FORMAT parquet)"
        )

    return answer


def _slide(query: Query) -> tuple[int, int]:
    """Return the seconds of a slide, and the slides of a range."""
    slide = query.window.slide // SECOND
    return slide, query.window.range // query.window.slide


LIBRARIES: dict[str, Callable[[World], Answer]] = {"polars": in_polars, "pandas": in_pandas, "DuckDB": in_duckdb}
