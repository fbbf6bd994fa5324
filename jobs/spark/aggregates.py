"""The frame lane's aggregation: Spark finds the slice of every event, and folds events into partials itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jobs.engine.feed.spark_partials import (
    EVENTS,
    LATE,
    LATEST,
    SLOTS,
    START,
    WORD,
    Aggregation,
    part_column,
    pass_edges,
    spark_key,
    word_column,
)
from jobs.engine.program.program import MeasureProgram
from jobs.kernels.algebra.operators import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COUNT,
    LIMB_BITS,
    MAX,
    MIN,
    MOMENTS,
    PRODUCT,
    SUM_FLOAT,
    SUM_INT,
)
from optimizer.rewrite.partials import make_exact_parts, only_where
from optimizer.rewrite.slice_start import microseconds, since_edge
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOMENT = "__moment"  # the time of an event in microseconds
EXACT_NAMES = {
    COUNT: "count",
    SUM_INT: "whole_sum",
    SUM_FLOAT: "sum",
    MOMENTS: "moments",
    MIN: "min",
    MAX: "max",
    BIT_AND: "bit_and",
    BIT_OR: "bit_or",
    BIT_XOR: "bit_xor",
}


class PreparedNames(NamedTuple):
    """What a prepared frame calls the time, the columns of the events, and the program's values and predicates."""

    time: str
    columns: dict[str, str]  # by the user's name
    inputs: dict[str, str]  # by the program's name


def aggregate_events(inputs: DataFrame, aggregation: Aggregation, names: PreparedNames, emitted: int) -> DataFrame:
    """Return partials by key, slice and signature."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    keys = [F.col(names.columns[name]).alias(spark_key(number)) for number, name in enumerate(aggregation.keys)]
    words = [F.expr(sql).alias(word_column(number)) for number, sql in enumerate(_words(aggregation, names.inputs))]
    whole = [F.count(F.lit(1)).alias(EVENTS), F.max(MOMENT).alias(LATEST)]
    if emitted > BEGINNING:
        whole.append(F.count_if(F.col(MOMENT) < emitted).alias(LATE))
    parts = [
        column.alias(part_column(number, part))
        for number, measure in enumerate(aggregation.measures)
        for part, column in enumerate(_parts(measure, names.inputs))
    ]
    start = f"{MOMENT} - ({since_edge(pass_edges(aggregation.edges), MOMENT, SLOTS)})"
    timed = inputs.withColumn(MOMENT, F.expr(microseconds(names.time))).withColumn(START, F.expr(start))
    return timed.groupBy(*keys, START, *words).agg(*whole, *parts)


def _words(aggregation: Aggregation, names: dict[str, str]) -> list[str]:
    """Return the signature, some predicates to a number: each that is true sets its bit."""
    texts = [f"if({names[test.name]}, {1 << bit % WORD}L, 0L)" for bit, test in enumerate(aggregation.bits)]
    return [" | ".join(texts[first : first + WORD]) for first in range(0, len(texts), WORD)]


def _parts(measure: MeasureProgram, names: dict[str, str]) -> list[Column]:
    """Return Spark's aggregates that make up a measure's partial, as `rows_of` takes them."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    if measure.carries:
        return [F.expr(sql) for sql in _picks(measure, names)]
    value = only_where(names[measure.order] if measure.order else "1", names[measure.where] if measure.where else "")
    if measure.op == PRODUCT:  # SQL has no name for it
        return [F.product(F.expr(value))]
    if measure.coding == "decimal" and measure.op == SUM_INT:  # of ten digits more: no slice has so many events
        return [F.expr(f"sum({value})")]
    return [F.expr(sql) for sql in make_exact_parts(EXACT_NAMES[measure.op], value, LIMB_BITS)]


def _picks(measure: MeasureProgram, names: dict[str, str]) -> list[str]:
    """Return SQL for what orders the values of a measure, and for the value that it picks by that."""
    where = names[measure.where] if measure.where else ""
    order, pick = only_where(names.get(measure.order, MOMENT), where), "min" if measure.op == MIN else "max"
    picked = [f"{pick}_by({only_where(names[measure.payload], where)}, {order})"] if measure.payload else []
    return [f"{pick}({order})", *picked]
