"""The two lanes events come in by: files read by the tasks themselves, or any DataFrame Spark can make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from jobs.engine.bucket import Work
from jobs.engine.compile import compile_program, expressions, group_by_columns
from jobs.engine.events import FILE, POSITION
from jobs.engine.expressions import WIDTHS, NotExact, evaluate
from jobs.engine.feeding import feed_tables
from jobs.engine.program import ALL, TIME, Input, Program
from jobs.engine.source import columns_needed, opened
from jobs.engine.spark_executor import Feeding, Item, guarded
from jobs.engine.types import plain
from jobs.stream_frames import driver_of, events_of, file_frame
from jobs.unshared import unshared_types
from optimizer.catalog.catalog import Catalog
from optimizer.catalog.expressions import quote
from optimizer.errors import HeddleError
from optimizer.plan import Plan

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Lane = Literal["file", "frame"]
KEY_TYPES = (*WIDTHS, pa.string(), pa.date32(), pa.bool_(), pa.timestamp("us", "UTC"), pa.timestamp("us"))
ITEM = "bucket int, kind string, content binary"


def file_types(catalog: Catalog, plan: Plan, path: str) -> dict[str, pa.DataType]:
    """The types of all expressions and columns, from one file's schema; NotExact where Spark must evaluate them."""
    if catalog.streams[plan.stream].format != "parquet" or catalog.streams[plan.stream].sql:
        raise NotExact("a stream that is not read from Parquet files")
    with opened(path) as file:
        empty = file.schema_arrow.empty_table()
    columns = {name: empty[name] for name in empty.column_names}
    values, predicates = expressions(catalog, plan)
    found = {sql: evaluate(sql, columns).type for sql in (*values, *predicates)}
    for sql in predicates:
        if found[sql] != pa.bool_():
            raise NotExact(sql)
    for name in _named(catalog, plan):
        if name not in columns or plain(columns[name].type) not in KEY_TYPES:
            raise NotExact(name)
    return {name: column.type for name, column in columns.items()} | found


def _named(catalog: Catalog, plan: Plan) -> list[str]:
    """The time and the group-by columns, as the catalog names them."""
    return [catalog.streams[plan.stream].time, *group_by_columns(catalog, plan)]


def frame_types(catalog: Catalog, plan: Plan, frame: DataFrame) -> dict[str, pa.DataType]:
    """The types of all expressions and columns, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    values, predicates = expressions(catalog, plan)
    for sql in predicates:
        frame.where(sql)  # Spark refuses what is no condition
    names = _named(catalog, plan)
    texts = [*map(quote, names), *values]
    typed = to_arrow_schema(frame.selectExpr(*(f"{sql} AS v{i}" for i, sql in enumerate(texts))).schema, timezone="UTC")
    return {name: field.type for name, field in zip([*names, *values], typed, strict=True)}


def choose(
    spark: SparkSession, catalog: Catalog, plan: Plan, files: Sequence[tuple[str, int]], forced: str
) -> tuple[Lane, Program, StructType | None]:
    """The file lane where it gives Spark's answers, else the frame lane; its program, and the schema of the files."""
    driver = driver_of(catalog, plan.stream)
    if forced != "frame":
        try:
            types = file_types(catalog, plan, files[0][0])
            if plan.unshared:
                types |= unshared_types(catalog, plan, file_frame(spark, driver, [files[0][0]]))
            return "file", compile_program(catalog, plan, types), None
        except NotExact as reason:
            if forced == "file":
                raise HeddleError(f"the file lane cannot evaluate {reason}; use --lane frame or auto") from None
    arrived = file_frame(spark, driver, [path for path, _ in files])
    frame = events_of(spark, catalog, plan.stream, arrived)
    types = frame_types(catalog, plan, frame) | unshared_types(catalog, plan, frame)
    return "frame", compile_program(catalog, plan, types), arrived.schema


def from_frame(frame: DataFrame) -> Feeding:
    """The frame lane: Spark evaluates keys, expressions and predicates; each event then crosses once, as Arrow."""

    def feeding(program: Program, work: Work) -> RDD[Item]:
        def fold(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            tables = (pa.Table.from_batches([batch]) for batch in batches)
            pairs = ((_events(table, program), _inputs(table, program)) for table in tables)
            for bucket, item in guarded(lambda: feed_tables(program, work, pairs)):
                yield _encoded(bucket, item)

        return prepared(frame, program).mapInArrow(fold, ITEM).rdd.map(_decoded)

    return feeding


def prepared(frame: DataFrame, program: Program) -> DataFrame:
    """The columns of the events that are needed, and what is more than a column, evaluated by Spark."""
    needed = columns_needed(program)
    columns = [f"{quote(name)} AS __c{number}" for number, name in enumerate(needed)]
    tests = [f"({item.sql}) AS {item.name}" for item in program.predicates if item.sql not in needed]
    values = [f"{_guarded(item, program)} AS {item.name}" for item in program.values if item.sql not in needed]
    return frame.selectExpr(*columns, *tests, *values, *(_arrival(frame) if program.in_rows else ()))


def _arrival(frame: DataFrame) -> list[str]:
    """Where every event stood: in a file, where Spark can tell, and before or after others of the same task."""
    from pyspark.errors import AnalysisException

    file = "concat(_metadata.file_path, '#', lpad(_metadata.file_block_start, 20, '0'))"
    try:
        frame.selectExpr(file)
    except AnalysisException:
        file = "''"
    return [f"{file} AS {FILE}", f"monotonically_increasing_id() AS {POSITION}"]


def _guarded(item: Input, program: Program) -> str:
    """A value only where a query looks at it: what Spark refuses elsewhere (a division by zero) does not matter."""
    sql = {test.name: test.sql for test in program.predicates}
    wheres = program.wheres(item.name)
    passed = "" if "" in wheres else " AND (" + " OR ".join(f"({sql[where]})" for where in sorted(wheres)) + ")"
    return f"if({quote(program.time)} IS NOT NULL{passed}, {item.sql}, NULL)"


def _events(table: pa.Table, program: Program) -> pa.Table:
    needed = columns_needed(program)
    return table.select(list(range(len(needed)))).rename_columns(needed)


def _inputs(table: pa.Table, program: Program) -> pa.Table:
    events = _events(table, program)
    keys = {name for grouping in program.groupings for name in grouping.keys if name != ALL}
    columns = {name: events[name] for name in keys} | {TIME: events[program.time]}
    for item in (*program.values, *program.predicates):
        columns[item.name] = table[item.name] if item.name in table.column_names else events[item.sql]
    if program.in_rows:
        columns |= {name: table[name] for name in (FILE, POSITION)}
    return pa.table(columns)


def _encoded(bucket: int, item: Any) -> pa.RecordBatch:
    from jobs.engine.feeding import report_to_json

    kind, content = ("parcel", item) if isinstance(item, bytes) else ("report", report_to_json(item).encode())
    if isinstance(item, str):
        kind, content = "error", item.encode()
    return pa.RecordBatch.from_pydict(
        {"bucket": pa.array([bucket], pa.int32()), "kind": [kind], "content": pa.array([content], pa.binary())}
    )


def _decoded(row: Any) -> Item:
    from jobs.engine.feeding import report_from_json

    if row.kind == "parcel":
        return row.bucket, bytes(row.content)
    text = bytes(row.content).decode()
    return row.bucket, text if row.kind == "error" else report_from_json(text)
