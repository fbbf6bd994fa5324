"""The engine's answers beside those of plain Spark."""

from __future__ import annotations

import math
from functools import reduce
from operator import and_

from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from expectations.sides.row import OPEN, SCALE, Sides, shown, window_text
from expectations.suites.column_pairs import ExpectColumnPairValuesToAgree
from expectations.suites.suite import RTOL, Suite

PLACE = ("query", "key", "start")
ROUNDING = 1e-13  # of the numbers that were added up
BOTH, OURS, SPARKS = "both", "Heddle only", "Spark only"


def pair_answers(sides: Sides) -> DataFrame:
    """Return both answers side by side.

    Where Spark is free to choose, its answer is replaced by the engine's: which of the events that tie, and the last
    digits of a sum, which depend on the order of addition.
    """
    ours = sides.ours.select(
        *PLACE, "end", "rows", F.col("text").alias("our_text"), F.col("number").alias("our_number")
    )
    ours = ours.withColumn("is_ours", F.lit(True))
    sparks = sides.naive.select(
        *PLACE, F.col("end").alias("their_end"), F.col("rows").alias("their_rows"), "text", "number", OPEN, SCALE
    )
    both = _join_sides(ours, sparks.withColumn("is_sparks", F.lit(True)))
    is_free = F.exists(F.col(OPEN), lambda value: value.eqNullSafe(F.col("our_text")))
    spark_text = F.when(F.col("is_ours") & is_free, F.col("our_text")).otherwise(F.col("text"))
    rounding = F.abs(F.col("our_number") - F.col("number")) <= ROUNDING * F.col(SCALE)
    finite = F.col(SCALE) < math.inf
    spark_number = F.when(finite & rounding, F.col("our_number")).otherwise(F.col("number"))
    side = F.when(F.col("is_ours") & F.col("is_sparks"), BOTH).when(F.col("is_ours"), OURS).otherwise(SPARKS)
    our_answer, sparks_answer = shown(F.col("our_text"), F.col("our_number")), shown(spark_text, spark_number)
    is_pair = side == BOTH
    return both.select(
        "query",
        "key",
        window_text(F.col("start"), F.coalesce("end", "their_end"), F.coalesce("rows", "their_rows")).alias("window"),
        side.alias("side"),
        F.when(F.col("is_ours"), our_answer).otherwise("no row").alias("ours"),
        F.when(F.col("is_sparks"), sparks_answer).otherwise("no row").alias("spark"),
        F.when(is_pair, F.col("our_text")).alias("our_text"),
        F.when(is_pair, spark_text).alias("spark_text"),
        F.when(is_pair, F.col("our_number")).alias("our_number"),
        F.when(is_pair, spark_number).alias("spark_number"),
    )


def _join_sides(ours: DataFrame, sparks: DataFrame) -> DataFrame:
    """Join the rows of the same query, key and window, also where one of these is null."""
    renamed = sparks.withColumnsRenamed({name: f"their_{name}" for name in PLACE})
    same_place = reduce(and_, (F.col(name).eqNullSafe(F.col(f"their_{name}")) for name in PLACE))
    both = ours.join(renamed, same_place, "full_outer")
    return both.withColumns({name: F.coalesce(name, f"their_{name}") for name in PLACE})


SUITE = Suite(
    pair_answers,
    ("query", "key", "window", "ours", "spark"),
    {
        "same rows on both sides": ExpectColumnValuesToBeInSet(column="side", value_set=[BOTH]),
        "exact answers equal": ExpectColumnPairValuesToAgree(column_A="our_text", column_B="spark_text"),
        "float answers close": ExpectColumnPairValuesToAgree(column_A="our_number", column_B="spark_number", rtol=RTOL),
    },
)
