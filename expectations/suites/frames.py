"""The tables that the suites look at, made from both sides of an audit."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.sides.row import OPEN, SCALE, Sides, shown, window_text

PLACE = ("query", "key", "start")
ROUNDING = 1e-13  # of the numbers that were added up
BOTH, OURS, SPARKS = "both", "Heddle only", "Spark only"


def compared(sides: Sides) -> DataFrame:
    """Both answers side by side. What Spark leaves open is given as the engine has it: the choice among events that
    tie, and the last digits of a sum, which depend on the order of addition."""
    mine = sides.ours.select(
        *PLACE, "end", "rows", F.col("text").alias("our_text"), F.col("number").alias("our_number")
    )
    mine = mine.withColumn("mine", F.lit(True))
    theirs = sides.naive.select(
        *PLACE, F.col("end").alias("their_end"), F.col("rows").alias("their_rows"), "text", "number", OPEN, SCALE
    )
    both = _joined(mine, theirs.withColumn("theirs", F.lit(True)))
    free = F.exists(F.col(OPEN), lambda each: each.eqNullSafe(F.col("our_text")))
    spark_text = F.when(F.col("mine") & free, F.col("our_text")).otherwise(F.col("text"))
    rounding = F.abs(F.col("our_number") - F.col("number")) <= ROUNDING * F.col(SCALE)
    finite = F.col(SCALE) < math.inf
    spark_number = F.when(finite & rounding, F.col("our_number")).otherwise(F.col("number"))
    side = F.when(F.col("mine") & F.col("theirs"), BOTH).when(F.col("mine"), OURS).otherwise(SPARKS)
    ours, sparks = shown(F.col("our_text"), F.col("our_number")), shown(spark_text, spark_number)
    met = side == BOTH
    return both.select(
        "query",
        "key",
        window_text(F.col("start"), F.coalesce("end", "their_end"), F.coalesce("rows", "their_rows")).alias("window"),
        side.alias("side"),
        F.when(F.col("mine"), ours).otherwise("no row").alias("ours"),
        F.when(F.col("theirs"), sparks).otherwise("no row").alias("spark"),
        F.when(met, F.col("our_text")).alias("our_text"),
        F.when(met, spark_text).alias("spark_text"),
        F.when(met, F.col("our_number")).alias("our_number"),
        F.when(met, spark_number).alias("spark_number"),
    )


def _joined(mine: DataFrame, theirs: DataFrame) -> DataFrame:
    """Rows of the same query, key and window together, also where one of these is null."""
    there = theirs.withColumnsRenamed({name: f"their_{name}" for name in PLACE})
    met = reduce(and_, (F.col(name).eqNullSafe(F.col(f"their_{name}")) for name in PLACE))
    both = mine.join(there, met, "full_outer")
    return both.withColumns({name: F.coalesce(name, f"their_{name}") for name in PLACE})


def answers(sides: Sides) -> DataFrame:
    """The engine's answers alone."""
    return sides.ours.select(
        "query",
        "key",
        "start",
        "past_edge",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
    )


def counts(sides: Sides) -> DataFrame:
    """The engine's answers that are counts."""
    return sides.ours.where(F.col("aggregate") == "count").select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
        F.col("text").cast("bigint").alias("count"),
    )


def bounds(sides: Sides) -> DataFrame:
    """Smallest, mean and largest of the same events, from different queries."""
    value = F.coalesce("number", F.col("text").try_cast("double"))
    found = [F.max(F.when(F.col("aggregate") == name, value)).alias(name) for name in ("min", "avg", "max")]
    names = F.concat_ws(", ", F.sort_array(F.collect_set("query")))
    alike = sides.ours.where(F.col("aggregate").isin("min", "avg", "max")).groupBy(
        "about", "key", "start", "end", "rows"
    )
    return alike.agg(names.alias("query"), *found).select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end"), F.col("rows")).alias("window"),
        F.concat_ws(
            " <= ", F.col("min").cast("string"), F.col("avg").cast("string"), F.col("max").cast("string")
        ).alias("ours"),
        "min",
        "avg",
        "max",
    )


FRAMES: dict[str, Callable[[Sides], DataFrame]] = {
    "compared": compared,
    "answers": answers,
    "counts": counts,
    "bounds": bounds,
}
