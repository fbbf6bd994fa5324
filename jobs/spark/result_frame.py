"""Result files as Spark frames: as they are written, or with the columns of a statement's SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.program.program import key_column
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.warehouse.read_answers import revision_column
from jobs.engine.warehouse.result_files import FIRST, QUERY, REVISION, START, value_column, value_types
from jobs.engine.warehouse.statements import EvaluatedStatement, PublishedFiles
from optimizer.catalog.model.query import ColumnKind
from optimizer.catalog.sql.expressions import in_backquotes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NUMBERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64())


def result_frame(
    spark: SparkSession,
    paths: Sequence[str],
    keys: Mapping[str, pa.DataType],
    values: Iterable[pa.DataType],
    revised: bool = False,
) -> DataFrame:
    """Read result files: the query's label, the keys, the window's start, the columns of some types of value, the
    revision.

    A file that lacks the column of a type has null in it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = [
        (QUERY, pa.string()),
        *((key_column(key), kind) for key, kind in keys.items()),
        (START, INSTANT),
        *((value_column(kind), kind) for kind in dict.fromkeys(values)),
        *([(REVISION, pa.int64())] if revised else []),
    ]
    schema = from_arrow_schema(pa.schema(fields), prefer_timestamp_ntz=True)
    return spark.read.schema(schema).parquet(*paths) if paths else spark.createDataFrame([], schema)


def answers_frame(spark: SparkSession, published: PublishedFiles, revisions: bool = False) -> DataFrame:
    """Read a statement's answers, with the columns and types of its SQL; with a number, all revisions."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    statement, window = published.statement, published.statement.window
    rows = _rows_by_query(spark, published, revisions)
    if len(statement.queries) > 1:
        rows = _side_by_side(statement, rows, revisions)
    if window.rows:
        start = F.coalesce(F.unix_micros(F.col(START)), F.lit(0))  # never null, and Spark is to know it
        end = start + window.range
    else:
        start = F.col(START) if statement.instant.tz else F.to_timestamp_ntz(F.col(START))
        end = start + F.expr(f"INTERVAL '{window.range}' MICROSECOND")
    parts = {
        "window": F.struct(start.alias("start"), end.alias("end")),
        "window.start": start,
        "window.end": end,
    }
    sources: dict[ColumnKind, Callable[[str], Column]] = {
        "key": lambda key: _quote_column(key_column(key)),
        "window": lambda part: parts[part],
        "answer": lambda id: _quote_column(_answer_column(id)),
    }
    columns = statement.statement.columns
    selection = [sources[column.kind](column.source).alias(column.name) for column in columns]
    if revisions:
        selection.append(F.col(REVISION).alias(revision_column([column.name for column in columns])))
    answers = rows.select(*selection)
    having = statement.statement.having
    return answers.where(having) if having else answers


def _rows_by_query(spark: SparkSession, published: PublishedFiles, revisions: bool) -> DataFrame:
    """Read one row per query, key and window, the answer in the column of its query; the newest revision, or all."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    statement = published.statement
    paths = [published.storage.uri(file.name) for file in published.files]
    revised = any(file.revised for file in published.files)
    kinds = {id: _kinds(published, statement.types[id]) for id in statement.queries}
    rows = result_frame(spark, paths, statement.key_types, [each for some in kinds.values() for each in some], revised)
    answers = [
        F.when(F.col(QUERY) == label, _value(statement.types[id], kinds[id])).alias(_answer_column(id))
        for id, label in statement.labels.items()
    ]
    columns = [_quote_column(key_column(key)) for key in statement.keys]
    own = rows.where(F.col(QUERY).isin(*statement.labels.values()))
    if not revised:
        selected = own.select(QUERY, *columns, START, *answers)
        return selected.withColumn(REVISION, F.lit(0).cast("long")) if revisions else selected
    revision = F.coalesce(F.col(REVISION), F.lit(FIRST))
    row = Window.partitionBy(*columns, START)
    if revisions:
        number = F.dense_rank().over(row.orderBy(revision)) - 1
        return own.select(QUERY, *columns, START, *answers, number.cast("long").alias(REVISION))
    newest = F.max(revision).over(row)
    return own.withColumn("newest", newest == revision).where("newest").select(QUERY, *columns, START, *answers)


def _side_by_side(statement: EvaluatedStatement, rows: DataFrame, revisions: bool) -> DataFrame:
    """Make one row per key and window of one row per query; grouping takes null for a key like any other."""
    from pyspark.sql import functions as F  # noqa: N812

    names = [_answer_column(id) for id in statement.queries]
    answers = [F.first(_quote_column(name), ignorenulls=True).alias(name) for name in names]
    presences = [F.bool_or(F.col(QUERY) == label) for label in statement.labels.values()]
    keys = [*(_quote_column(key_column(key)) for key in statement.keys), F.col(START)]
    groups = rows.groupBy(*keys, *([F.col(REVISION)] if revisions else []))
    return groups.agg(*answers, reduce(and_, presences).alias("complete")).where("complete")


def _answer_column(id: str) -> str:
    return f"answer {id}"


def _value(kind: pa.DataType, kinds: Sequence[pa.DataType]) -> Column:
    """Return the answers of a type from the columns of some types, its own the last; from a file, Spark takes any array
    to have nulls, until they are left out."""
    from pyspark.sql import functions as F  # noqa: N812

    column = F.coalesce(*(_quote_column(value_column(each)) for each in kinds))
    return F.array_compact(column) if pa.types.is_list(kind) and not kind.value_field.nullable else column


def _kinds(published: PublishedFiles, kind: pa.DataType) -> list[pa.DataType]:
    """Return the types of the columns that may hold answers of a type, its own the last; only files tell which decimals
    and lists there are."""
    names = [value_column(number) for number in NUMBERS]
    if pa.types.is_decimal(kind) or pa.types.is_list(kind):
        paths = [published.storage.path(file.name) for file in published.files]
        filesystem = published.storage.filesystem
        names = sorted({name for path in paths for name in pq.read_schema(path, filesystem=filesystem).names})
    return [*(each for each in value_types(kind, names) if each != kind), kind]


def _quote_column(name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.col(in_backquotes(name))
