"""The two lanes events come in by: files read by the tasks themselves, or any DataFrame Spark can make.

A query takes the file lane where that gives Spark's answers; one that only Spark evaluates goes by the frame lane,
alone. Both lanes may feed one batch. Time zones are Java's: where the file lane's clocks change at other times than
Spark's do, Spark evaluates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.engine.events.expressions import NotExact
from jobs.engine.events.file_types import FileTypes, exact_types, named_columns, require_time
from jobs.engine.events.language.times import is_utc, zone_of
from jobs.engine.program.compile import compile_program, expressions
from jobs.engine.program.program import Program
from jobs.engine.program.queries import move_unfoldable, queries_for_spark
from jobs.engine.sources import list_input_files
from jobs.engine.sources.contract import File
from jobs.spark.stream_frames import driver_of, events_of, file_frame
from jobs.spark.unshared import unshared_types
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Stream
from optimizer.catalog.model.source_files import reads_below
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


NOT_IN_PARQUET = "a stream that is not read from Parquet files"
Change = tuple[int, int, int]  # when, in seconds since 1970, and by how much clocks are ahead before and after
OFFSET = r"Z|[+-][0-9:]+"
CHANGE = re.compile(rf"Transition\[(?:Gap|Overlap) at (\S+?)({OFFSET}) to ({OFFSET})\]")
YEARS = range(2100, 2104)  # for which rules are compared


@dataclass(frozen=True)
class Lanes:
    """Who reads which events of a stream, and why."""

    program: Program
    reads_files: bool  # whether tasks read files themselves; else all events come by Spark
    schema: StructType | None  # in which Spark reads files; None where it reads none for the trees
    reasons: dict[str, str]  # by woven query of the frame lane: why

    @property
    def name(self) -> str:
        """Which lanes there are."""
        if not self.reads_files:
            return "frame"
        return "file and frame" if self.reasons else "file"


def frame_types(
    catalog: Catalog, plan: Plan, frame: DataFrame, only: Collection[str] | None = None
) -> dict[str, pa.DataType]:
    """Return the types of expressions and columns by their SQL, from Spark's own analysis."""
    from pyspark.sql.pandas.types import to_arrow_schema

    values, predicates = expressions(catalog, plan)
    for sql in predicates:
        if only is None or sql in only:
            frame.where(sql)  # Spark refuses what is no condition
    texts = list(dict.fromkeys([*map(quote, named_columns(catalog, plan)), *values]))
    if only is not None:
        texts = [sql for sql in texts if sql in only]
    columns = [f"{sql} AS v{number}" for number, sql in enumerate(texts)]
    typed = to_arrow_schema(frame.selectExpr(*columns).schema, timezone="UTC")
    types = {sql: field.type for sql, field in zip(texts, typed, strict=True)}
    if only is None:
        require_time(catalog.streams[plan.stream], types)
    return types


def choose_lanes(spark: SparkSession, catalog: Catalog, plan: Plan, files: Sequence[File], forced: str) -> Lanes:
    """Choose the file lane for every query that it gives Spark's answers, else the frame lane; compile the program."""
    knows_clocks = knows_changes(spark, catalog.streams[plan.stream].zone)
    types, reasons = queries_by_lane(catalog, plan, files[0].path, forced == "frame", knows_clocks)
    if forced == "file" and (reasons or types is None):
        reason = next(iter(reasons.values()), NOT_IN_PARQUET)
        raise HeddleError(f"the file lane cannot evaluate {reason}; use --lane frame or auto")
    if types is None or forced == "frame" or (reasons and reasons.keys() == _woven_queries(plan)):
        return _frame_lane(spark, catalog, plan, files, reasons, forced == "frame")
    return _both_lanes(spark, catalog, plan, files[0], types, reasons)


def _first_frame(spark: SparkSession, driver: Stream, files: Sequence[File]) -> DataFrame:
    """Return the events of the first files, in the types that all files have together where that matters."""
    has_folders = any("=" in file.path.removeprefix(driver.path).rpartition("/")[0] for file in files)
    if driver.options.get("mergeSchema") == "true" or (has_folders and not reads_below(driver)):
        schema = file_frame(spark, driver, list_input_files(driver)).schema
        return file_frame(spark, driver, files, schema)
    return file_frame(spark, driver, files)


def queries_by_lane(
    catalog: Catalog, plan: Plan, path: str, by_spark: bool = False, knows_clocks: bool = True
) -> tuple[FileTypes | None, dict[str, str]]:
    """Return what the file lane knows from a file (None where it reads no such files), and the queries it leaves to
    Spark with the reasons. Where Spark reads the file anyway, Spark says what is wrong with it."""
    try:
        types = exact_types(catalog, plan, path, knows_clocks)
    except NotExact as reason:
        return None, dict.fromkeys(sorted(_woven_queries(plan)), str(reason))
    except HeddleError:
        if not by_spark:
            raise
        return None, {}
    return types, queries_for_spark(catalog, plan, types.reasons)


def _woven_queries(plan: Plan) -> set[str]:
    return {str(id) for tree in plan.trees for id in tree.queries}


def _frame_lane(
    spark: SparkSession,
    catalog: Catalog,
    plan: Plan,
    files: Sequence[File],
    reasons: Mapping[str, str],
    forced: bool,
) -> Lanes:
    """Compile the program of events that all come by Spark. Trees are split as in both lanes, so that a run may force
    the lane without a change of what is retained."""
    arrived = _first_frame(spark, driver_of(catalog, plan.stream), files)
    frame = events_of(spark, catalog, plan.stream, arrived)
    types = frame_types(catalog, plan, frame)
    types |= unshared_types(catalog, move_unfoldable(catalog, plan, types), frame)
    program = compile_program(catalog, plan, types, reasons)
    if forced:
        reasons = dict.fromkeys(sorted(_woven_queries(plan)), "--lane frame")
    return Lanes(program, False, arrived.schema, _reasons_of_woven(program, reasons))


def _both_lanes(
    spark: SparkSession, catalog: Catalog, plan: Plan, file: File, file_types: FileTypes, reasons: Mapping[str, str]
) -> Lanes:
    """Compile one program for both lanes: the queries of the file lane, and those that only Spark evaluates, if any."""
    types, schema = file_types.types, None
    if reasons or plan.unshared:
        frame = _first_frame(spark, driver_of(catalog, plan.stream), [file])
        types = types | frame_types(catalog, plan, frame, file_types.reasons)
        types |= unshared_types(catalog, move_unfoldable(catalog, plan, types), frame)
        schema = frame.schema
    program = compile_program(catalog, plan, types, reasons)
    return Lanes(program, True, schema, _reasons_of_woven(program, reasons))


def _reasons_of_woven(program: Program, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return the reasons of the queries that are woven after all: others turned out to be unshared."""
    woven = {query.id for grouping in program.groupings for tree in grouping.trees for query in tree.queries}
    return {id: reason for id, reason in reasons.items() if id in woven}


def knows_changes(spark: SparkSession, zone: str) -> bool:
    """Return whether clocks of a zone are set here when Java sets them: both bring their own list of changes."""
    if is_utc(zone):
        return True
    rules = spark._jvm.java.time.ZoneId.of(zone).getRules()  # type: ignore[union-attr]  # there is a JVM
    listed = read_changes(rules.getTransitions().toString())
    by_rule = [change for rule in rules.getTransitionRules() for change in _changes_by_rule(rule)]
    here = zone_of(zone)
    ours = list(zip(here.changes.tolist(), here.offsets[:-1].tolist(), here.offsets[1:].tolist(), strict=True))
    last = listed[-1][0] if listed else -(1 << 63)
    later = [change for change in ours if change[0] > last]
    return [change for change in ours if change[0] <= last] == listed and sorted(by_rule) == _in_years(later)


def _changes_by_rule(rule: Any) -> list[Change]:
    return read_changes(" ".join(str(rule.createTransition(year)) for year in YEARS))


def _in_years(changes: list[Change]) -> list[Change]:
    return [change for change in changes if (datetime(1970, 1, 1) + timedelta(seconds=change[0])).year in YEARS]


def read_changes(text: str) -> list[Change]:
    """Return the changes that Java has written down.

    >>> read_changes("[Transition[Overlap at 1893-04-01T00:00+00:53:28 to +00:50], ...]")
    [(-2422054408, 3208, 3000)]
    """
    return [_change(*parts) for parts in CHANGE.findall(text)]


def _change(clock: str, before: str, after: str) -> Change:
    since_epoch = datetime.fromisoformat(clock) - datetime(1970, 1, 1)
    return since_epoch.days * 86_400 + since_epoch.seconds - _seconds(before), _seconds(before), _seconds(after)


def _seconds(offset: str) -> int:
    """Return an offset in seconds.

    >>> _seconds("-00:53:28"), _seconds("Z")
    (-3208, 0)
    """
    if offset == "Z":
        return 0
    hours, minutes, seconds = (*map(int, offset[1:].split(":")), 0)[:3]
    return (-1 if offset[0] == "-" else 1) * (hours * 3_600 + minutes * 60 + seconds)
