"""The tables that the suites look at, made from both sides of an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.rows import OPEN, shown, window_text

PLACE = ("query", "key", "start")
BOTH, OURS, SPARKS = "both", "Heddle only", "Spark only"


@dataclass(frozen=True)
class Sides:
    """The engine's answers and Spark's, in the same windows."""

    ours: DataFrame
    naive: DataFrame


def compared(sides: Sides) -> DataFrame:
    """Both answers side by side. Where events tie, Spark may have chosen as the engine did."""
    mine = sides.ours.select(*PLACE, "end", F.col("text").alias("our_text"), F.col("number").alias("our_number"))
    mine = mine.withColumn("mine", F.lit(True))
    theirs = sides.naive.select(*PLACE, F.col("end").alias("their_end"), "text", "number", OPEN)
    both = mine.join(theirs.withColumn("theirs", F.lit(True)), list(PLACE), "full_outer")
    free = F.exists(F.col(OPEN), lambda each: each.eqNullSafe(F.col("our_text")))
    spark_text = F.when(F.col("mine") & free, F.col("our_text")).otherwise(F.col("text"))
    side = F.when(F.col("mine") & F.col("theirs"), BOTH).when(F.col("mine"), OURS).otherwise(SPARKS)
    ours, sparks = shown(F.col("our_text"), F.col("our_number")), shown(spark_text, F.col("number"))
    met = side == BOTH
    return both.select(
        "query",
        "key",
        window_text(F.col("start"), F.coalesce("end", "their_end")).alias("window"),
        side.alias("side"),
        F.when(F.col("mine"), ours).otherwise("no row").alias("ours"),
        F.when(F.col("theirs"), sparks).otherwise("no row").alias("spark"),
        F.when(met, F.col("our_text")).alias("our_text"),
        F.when(met, spark_text).alias("spark_text"),
        F.when(met, F.col("our_number")).alias("our_number"),
        F.when(met, F.col("number")).alias("spark_number"),
    )


def answers(sides: Sides) -> DataFrame:
    """The engine's answers alone."""
    return sides.ours.select(
        "query",
        "key",
        "start",
        "past_edge",
        window_text(F.col("start"), F.col("end")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
    )


def counts(sides: Sides) -> DataFrame:
    """The engine's answers that are counts."""
    return sides.ours.where(F.col("aggregate") == "count").select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end")).alias("window"),
        shown(F.col("text"), F.col("number")).alias("ours"),
        F.col("text").cast("bigint").alias("count"),
    )


def bounds(sides: Sides) -> DataFrame:
    """Smallest, mean and largest of the same events, from different queries."""
    value = F.coalesce("number", F.col("text").try_cast("double"))
    found = [F.max(F.when(F.col("aggregate") == name, value)).alias(name) for name in ("min", "avg", "max")]
    names = F.concat_ws(", ", F.sort_array(F.collect_set("query")))
    alike = sides.ours.where(F.col("aggregate").isin("min", "avg", "max")).groupBy("about", "key", "start", "end")
    return alike.agg(names.alias("query"), *found).select(
        "query",
        "key",
        window_text(F.col("start"), F.col("end")).alias("window"),
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
