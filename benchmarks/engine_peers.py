"""What a careful user would run instead: polars on hand-made pre-aggregates."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from benchmarks.engine_world import World
from optimizer.catalog.model.query import Query


def by_polars(world: World, queries: Sequence[Query] | None = None) -> None:
    """All queries, or some, over sums and maxima by machine and second, which polars makes first; results written."""
    (world.root / "polars").mkdir()
    seconds = (
        pl.scan_parquet(str(world.data / "*.parquet"))
        .group_by("machine", pl.col("ts").dt.truncate("1s"))
        .agg(pl.col("value").max().alias("max"), pl.col("value").sum().alias("sum"))
        .sort("machine", "ts")
        .collect()
    )
    for query in world.catalog.queries if queries is None else queries:
        column = pl.col(query.aggregate)
        answers = seconds.group_by_dynamic(
            "ts",
            every=f"{query.window.slide}us",
            period=f"{query.window.range}us",
            group_by="machine",
            start_by="window",
        ).agg(column.max() if query.aggregate == "max" else column.sum())
        answers.write_parquet(world.root / "polars" / f"{query.id}.parquet")
