"""What a careful user would run instead: polars on hand-made pre-aggregates."""

from __future__ import annotations

import polars as pl

from benchmarks.engine_world import World


def by_polars(world: World) -> None:
    """All queries over sums and maxima of every machine and second, which polars makes first; results written."""
    (world.root / "polars").mkdir()
    seconds = (
        pl.scan_parquet(str(world.data / "*.parquet"))
        .group_by("machine", pl.col("ts").dt.truncate("1s"))
        .agg(pl.col("value").max().alias("max"), pl.col("value").sum().alias("sum"))
        .sort("machine", "ts")
        .collect()
    )
    for query in world.catalog.queries:
        column = pl.col(query.aggregate)
        answers = seconds.group_by_dynamic(
            "ts",
            every=f"{query.window.slide}us",
            period=f"{query.window.range}us",
            group_by="machine",
            start_by="window",
        ).agg(column.max() if query.aggregate == "max" else column.sum())
        answers.write_parquet(world.root / "polars" / f"{query.id}.parquet")
