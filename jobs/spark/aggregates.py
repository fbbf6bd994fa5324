"""The frame lane's aggregation: Spark finds the slice of every event, and folds events into partials itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.engine.feed.spark_partials import (
    EVENTS,
    LATE,
    LATEST,
    START,
    WORD,
    Aggregation,
    lay_out_slots,
    part_column,
    spark_key,
    word_column,
)
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.algebra.operators import (
    BIT_AND,
    BIT_OR,
    COUNT,
    LIMB_BITS,
    LIMB_MASK,
    MAX,
    MIN,
    MOMENTS,
    PRODUCT,
    SUM_INT,
)
from optimizer.windows.edges import Edges
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOMENT = "__moment"  # the time of an event in microseconds
ROUNDED = 1e38  # below it a number of 24 bits stands for a double: sums of such are exact for long


def aggregate_events(inputs: DataFrame, found: Aggregation, names: dict[str, str], emitted: int) -> DataFrame:
    """Partials by key, slice and signature. `names` says what the inputs call the time, a key, a value, a predicate."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    keys = [F.col(names[name]).alias(spark_key(number)) for number, name in enumerate(found.keys)]
    words = [F.expr(sql).alias(word_column(number)) for number, sql in enumerate(_words(found, names))]
    whole = [F.count(F.lit(1)).alias(EVENTS), F.max(MOMENT).alias(LATEST)]
    if emitted > BEGINNING:
        whole.append(F.count_if(F.col(MOMENT) < emitted).alias(LATE))
    parts = [
        column.alias(part_column(number, part))
        for number, measure in enumerate(found.measures)
        for part, column in enumerate(_parts(measure, names))
    ]
    moment = f"unix_micros(cast({names['']} AS TIMESTAMP))"
    timed = inputs.withColumn(MOMENT, F.expr(moment)).withColumn(START, F.expr(slice_start(found.edges)))
    return timed.groupBy(*keys, START, *words).agg(*whole, *parts)


def slice_start(edges: Edges) -> str:
    """The start of the slice that holds a moment, as SQL: by its place in the composite slide."""
    slot, composite, starts = lay_out_slots(edges)
    if not starts or len(starts) == 1:
        return f"{MOMENT} - pmod({MOMENT}, {composite}L)"
    lookup = f"cast(split('{','.join(map(str, starts))}', ',') AS array<bigint>)"
    place = f"pmod({MOMENT}, {composite}L)"
    return f"{MOMENT} - {place} + {lookup}[cast({place} DIV {slot}L AS int)]"


def _words(found: Aggregation, names: dict[str, str]) -> list[str]:
    """The signature, some predicates to a number: each that is true sets its bit."""
    texts = [f"if({names[test.name]}, {1 << bit % WORD}L, 0L)" for bit, test in enumerate(found.bits)]
    return [" | ".join(texts[first : first + WORD]) for first in range(0, len(texts), WORD)]


def _parts(measure: MeasureProgram, names: dict[str, str]) -> list[Column]:
    """Spark's aggregates that make up a measure's partial, as `rows_of` takes them."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    def expr(text: str) -> Column:
        value = names[measure.order] if measure.order else "1"
        return F.expr(text.format(f"if({names[measure.where]}, {value}, NULL)" if measure.where else value))

    if measure.op == COUNT:
        return [expr("count({0})")]
    if measure.op == SUM_INT:
        return [
            expr(f"sum(shiftright(cast({{0}} AS bigint), {LIMB_BITS}))"),
            expr(f"sum(cast({{0}} AS bigint) & {LIMB_MASK}L)"),
        ]
    if measure.op in (MIN, MAX):
        return [expr("min({0})" if measure.op == MIN else "max({0})")]
    if measure.op in (BIT_AND, BIT_OR):
        return [expr(f"{'bit_and' if measure.op == BIT_AND else 'bit_or'}(cast({{0}} AS bigint))")]
    if measure.op == PRODUCT:
        return [F.product(expr("{0}"))]
    sums = [
        expr(f"sum(if(abs({{0}}) < {ROUNDED}D, cast(cast({{0}} AS float) AS double), cast({{0}} AS double)))"),
        expr(f"sum(if(abs({{0}}) < {ROUNDED}D, {{0}} - cast(cast({{0}} AS float) AS double), 0D))"),
    ]
    return [expr("count({0})"), *sums, expr("var_pop({0})")] if measure.op == MOMENTS else sums
