"""Holds a whole case against plain Spark: the user's own SQL over the same files, every row and every type."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)
from pyspark.sql.types import StructType

from jobs.results import read_results
from jobs.spark.session import in_zone
from jobs.spark.stream_frames import literal_path
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.expressions import quote
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING
from tests.fuzz.case import THIS_CENTURY
from tests.fuzz.deliveries import alerts_of, check_sinks
from tests.fuzz.ways import WAYS, Answered, Evaluated
from tests.fuzz.whole_case import Statement, WholeCase
from tests.worlds.streams import ticks
from tests.worlds.warehouse import STREAM

PLACES_OF_SINKS = ("files", "lake", "ice")
INTERPRETED = "spark.sql.codegen.factoryMode"
TOLERANCE = 1e-9
SUMS = {"sum", "avg", "try_sum", "try_avg", "sum DISTINCT", "avg DISTINCT", "exp"}
SPREADS = {
    "var_pop",
    "var_samp",
    "stddev_pop",
    "stddev_samp",
    "skewness",
    "kurtosis",
    "covar_pop",
    "covar_samp",
    "corr",
}
SPREADS |= {"regr_slope", "regr_intercept", "regr_r2", "regr_sxy", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy"}
UNORDERED = {"percentile_approx"}  # where a NaN is among the values: Spark's sketch has no order for it
LISTS = {"collect_list", "collect_set"}  # in any order
Place = tuple[Any, ...]  # keys and window start


@dataclass(frozen=True)
class Expected:
    """What Spark answers to a statement: the types of its columns, and its rows by their place."""

    types: list[tuple[str, str]]
    rows: dict[Place, tuple[Any, ...]]
    sizes: dict[Place, dict[str, Any]]  # of each aggregate, the sum and the largest of its absolute values

    def ended(self, length: int, after: int, until: int) -> Expected:
        """Return the rows whose windows, of that length, end after the first time and not after the second."""
        return replace(self, rows={at: row for at, row in self.rows.items() if after < at[-1] + length <= until})


class Wrong(AssertionError):  # noqa: N818 (a verdict, not an error)
    """A case whose rows are not Spark's."""


@dataclass(frozen=True)
class Verdict:
    """How many rows were compared, and which statements Spark or Heddle refused, with the reason."""

    rows: int
    refused: Mapping[str, str]


def check_case(spark: SparkSession, case: WholeCase) -> Verdict:
    """Evaluate a case and compare all rows; raise Wrong, or what was raised, where it is not as plain Spark has it."""
    folder = Path(tempfile.mkdtemp())
    try:
        return _check(spark, case, folder)
    finally:
        spark.catalog.clearCache()
        shutil.rmtree(folder)


def _check(spark: SparkSession, case: WholeCase, folder: Path) -> Verdict:
    case.write(folder)
    frame = read_plainly(in_zone(spark, case.zone), case, folder)
    if frame is None:
        return Verdict(0, dict.fromkeys(case.statements, "no file"))
    if case.is_sql:
        frame = frame.where(case.kept)
    latest = frame.selectExpr(f"max({quote(case.layout.names['ts'])}) AS latest").toArrow()["latest"][0].as_py()
    if latest is None and frame.isEmpty():  # no file fits the options, and nothing is evaluated
        return Verdict(0, dict.fromkeys(case.statements, "no event"))
    until = None if latest is None else THIS_CENTURY if case.is_idle else ticks(latest) - case.lateness
    frame.createOrReplaceTempView(STREAM)
    oracle = Oracle(frame.sparkSession, case.statements)
    refused = dict(oracle.refused)
    for id in oracle.expected:
        if reason := _refusal(replace(case, statements={id: case.statements[id]}), folder):
            refused[id] = reason
    asked = {id: case.statements[id] for id in oracle.expected if id not in refused}
    if not asked:
        return Verdict(0, refused)
    kept = replace(case, statements=asked)
    try:
        kept, catalog = _run(spark, kept, folder)
    except HeddleError as error:
        is_other_type = case.layout.folders and "as it was in the batches before" in str(error)  # of a folder's values
        # what Spark does not even evaluate, since it sees that no row is left, it does not refuse
        is_unread = "Spark would refuse it too" in str(error) and not all(oracle.expected[id].rows for id in asked)
        if not is_other_type and not is_unread:
            raise
        return Verdict(0, dict.fromkeys(asked, str(error)))
    rows = 0
    evaluated = Evaluated(frame.sparkSession, kept, catalog, folder, frame, until)
    for id in evaluated.answered:
        read = read_results(in_zone(spark, case.zone), str(folder / "warehouse"), catalog, id)
        if oracle.expected[id].rows:
            types = [(field.name, field.dataType.json()) for field in read.schema]
            if types != oracle.expected[id].types:
                raise Wrong(f"{id}: types {types} here, {oracle.expected[id].types} in Spark; {asked[id].sql}")
        ours = answers_of(kept, folder, catalog, id, read)
        rows += oracle.compare(Answered(id, ours, until=BEGINNING if until is None else until))
    for way in kept.evaluation.ways:
        for answered in WAYS[way](evaluated):
            rows += oracle.compare(answered, f" by way of {way}")
    rows += _check_deliveries(oracle, evaluated)
    return Verdict(rows, refused)


def _check_deliveries(oracle: Oracle, evaluated: Evaluated) -> int:
    """Hold the tables of sinks against what is published, and alerts against the rows that pass in Spark."""
    case, folder = evaluated.case, evaluated.folder
    if not case.delivers:
        return 0
    rows = check_sinks(evaluated.catalog, folder, case.evaluation.sinks, evaluated.answered)
    raised, until = alerts_of(folder), BEGINNING if evaluated.until is None else evaluated.until
    for id in evaluated.answered:
        statement = case.statements[id]
        passing = oracle.passing.get(id)
        if passing is None:
            continue
        ours = Counter(_start(json.loads(text)["w"]) for text in raised.get(id, []))
        theirs = Counter(start for start in passing if start + statement.length <= until)
        # a row may have passed before it was corrected
        if theirs - ours or (ours - theirs and not case.corrections):
            said = f"alerts only here {ours - theirs}, only in Spark {theirs - ours}"
            raise Wrong(f"{id}: {said}; {statement.alert}; {statement.sql}")
        rows += len(passing)
    return rows


def _start(text: str) -> int:
    moment = datetime.fromisoformat(text)
    return ticks(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def answers_of(case: WholeCase, folder: Path, catalog: Catalog, id: str, read: DataFrame) -> list[dict[str, Any]]:
    """Return the answers to a statement without Spark; by Spark where only it evaluates the HAVING."""
    try:
        return case.answers(folder, catalog, id).to_pylist()
    except HeddleError as error:
        if "use read_results" not in str(error):
            raise
    return list(read.toArrow().to_pylist())


class Oracle:
    """Spark's answers to the statements of a case: all asked by one job whose expressions are interpreted, which takes
    a fraction of the time. Where a row differs, the statement is asked once more as users ask it, and that counts."""

    def __init__(self, spark: SparkSession, statements: Mapping[str, Statement]) -> None:
        self.spark, self.statements = spark, statements
        self.refused: dict[str, str] = {}
        frames: dict[str, DataFrame] = {}
        for id, statement in statements.items():
            try:
                frames[id] = spark.sql(_measured(statement))
            except PySparkException as error:
                self.refused[id] = _reason(error)
        self.expected: dict[str, Expected] = {}
        self.as_users_ask: set[str] = set()
        self.passing = {id: self._alerts(statements[id]) for id in frames if statements[id].alert}
        try:
            self.expected = {id: _expected(statements[id], *asked) for id, asked in _ask_together(frames).items()}
        except PySparkException:  # whichever it was
            for id in frames:
                try:
                    self.ask(id)
                except PySparkException as error:
                    self.refused[id] = _reason(error)

    def _alerts(self, statement: Statement) -> list[int] | None:
        """Return the starts of the windows, one for each row that passes the condition of an alert; None if refused."""
        try:
            passing = self.spark.sql(f"SELECT w FROM ({statement.sql}) WHERE {statement.alert}").toArrow()["w"]
        except PySparkException:
            return None
        return [ticks(start) for start in passing.to_pylist()]

    def ask(self, id: str) -> None:
        """Ask a statement as users ask it."""
        frame = self.spark.sql(_measured(self.statements[id]))
        self.expected[id] = _expected(self.statements[id], frame.schema, frame.toArrow().to_pylist())
        self.as_users_ask.add(id)

    def compare(self, answered: Answered, way: str = "") -> int:
        """Compare answers to a statement with Spark's in the same windows; return how many rows they are."""
        statement = self.statements[answered.id]
        ours = dict(_placed(answered.rows, statement))
        if len(ours) < len(answered.rows):
            raise Wrong(f"{answered.id}{way}: a key has two rows in a window; {statement.sql}")
        try:
            self._compare(answered, way, ours)
        except Wrong:
            if answered.id in self.as_users_ask:
                raise
            self.ask(answered.id)
            self._compare(answered, way, ours)
        return len(ours)

    def _compare(self, answered: Answered, way: str, ours: Mapping[Place, Any]) -> None:
        statement = self.statements[answered.id]
        ended = self.expected[answered.id].ended(statement.length, answered.after, answered.until)
        compare_rows(f"{answered.id}{way}", statement, ours, ended)


def _reason(error: PySparkException) -> str:
    return f"Spark: {str(error).splitlines()[0]}"


def _ask_together(frames: Mapping[str, DataFrame]) -> dict[str, tuple[StructType, list[dict[str, Any]]]]:
    """Return the schema and the rows of every frame: each is a column of one frame, null in the rows of the others."""
    parts = []
    for id, frame in frames.items():
        columns = []
        for other, its in frames.items():
            whole = F.struct(*(F.col(quote(name)) for name in its.columns)) if other == id else F.lit(None)
            columns.append(whole.cast(_with_nulls(its.schema)).alias(other))
        parts.append(frame.select(*columns))
    if not parts:
        return {}
    session = parts[0].sparkSession
    session.conf.set(INTERPRETED, "NO_CODEGEN")
    try:
        rows = reduce(DataFrame.union, parts).toArrow().to_pylist()
    finally:
        session.conf.unset(INTERPRETED)
    return {id: (frame.schema, [row[id] for row in rows if row[id] is not None]) for id, frame in frames.items()}


def _run(spark: SparkSession, case: WholeCase, folder: Path) -> tuple[WholeCase, Catalog]:
    """Evaluate a case; what one process or a technique cannot answer goes by Spark, or by the technique that fits."""
    for _ in range(4):
        for left in ("warehouse", "waiting", "data", *PLACES_OF_SINKS):
            shutil.rmtree(folder / left, ignore_errors=True)
        (folder / "answers.db").unlink(missing_ok=True)
        case.write(folder)
        try:
            return case, case.run(folder, spark)
        except HeddleError as error:
            how = case.evaluation
            if ("leave out --local" in str(error) and how.lane == "local") or "use --lane frame or auto" in str(error):
                case = replace(case, evaluation=replace(how, lane="auto"))
            elif str(error).startswith(f"technique {how.technique} "):
                case = replace(case, evaluation=replace(how, technique="auto"))
            elif "use read_results" in str(error) and case.delivers:  # a condition that only Spark evaluates
                plain = {id: replace(statement, alert="") for id, statement in case.statements.items()}
                case = replace(case, statements=plain, evaluation=replace(how, sinks=()))
            else:
                raise
    raise Wrong("neither a lane nor a technique takes the case")


def _refusal(case: WholeCase, folder: Path) -> str:
    """Return why the catalog refuses a statement, if it does."""
    case.write(folder)
    try:
        load_catalog(folder / "catalog")
    except HeddleError as error:
        return f"Heddle: {str(error).splitlines()[-1]}"
    return ""


def read_plainly(spark: SparkSession, case: WholeCase, folder: Path) -> DataFrame | None:
    """Return the events by Spark's own reader; None when it finds no file."""
    options = {name: text for name, text in case.layout.options.items() if name != "schema"}
    reader = spark.read.format(case.layout.format).options(**options)
    if "schema" in case.layout.options:
        reader = reader.schema(case.layout.options["schema"])
    try:
        return reader.load(literal_path(str(folder / "data"))).coalesce(1)
    except PySparkException as error:
        if "UNABLE_TO_INFER_SCHEMA" in str(error):
            return None
        raise


def _with_nulls(schema: StructType) -> StructType:
    """Return a schema that takes nulls everywhere."""
    text = (
        schema.json()
        .replace('"nullable":false', '"nullable":true')
        .replace('"containsNull":false', '"containsNull":true')
    )
    return StructType.fromJson(json.loads(text))


def _measured(statement: Statement) -> str:
    """Return a statement that also tells how large is what it adds up."""
    sizes = []
    for n, (name, x, only) in enumerate(statement.aggregates):
        if name in SUMS | SPREADS | UNORDERED:
            filtered = f" FILTER (WHERE {only})" if only else ""
            size = f"abs(cast({x} AS DOUBLE))"
            sizes += [f"sum({size}){filtered} AS heddle_s{n}", f"max({size}){filtered} AS heddle_m{n}"]
    return statement.sql.replace(f" FROM {STREAM}", f"{''.join(f', {size}' for size in sizes)} FROM {STREAM}", 1)


def _expected(statement: Statement, schema: StructType, answers: list[dict[str, Any]]) -> Expected:
    types = [(field.name, field.dataType.json()) for field in schema if not field.name.startswith("heddle_")]
    rows, measured = {}, {}
    for row in answers:
        ((place, values),) = _placed([row], statement)
        rows[place], measured[place] = values, {n: v for n, v in row.items() if n.startswith("heddle_")}
    return Expected(types, rows, measured)


def _placed(rows: list[dict[str, Any]], statement: Statement) -> list[tuple[Place, tuple[Any, ...]]]:
    places = []
    for row in rows:
        keys = tuple(repr(_plain(row[f"g{n}"])) for n in range(statement.keys))
        values = tuple(_plain(row[f"c{n}"]) for n in range(len(statement.aggregates)))
        places.append(((*keys, ticks(row["w"])), values))
    return places


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return ticks(value)
    return 0.0 if isinstance(value, float) and value == 0 else value


def compare_rows(id: str, statement: Statement, ours: Mapping[Place, Any], expected: Expected) -> None:
    """Compare every row and every value."""
    if ours.keys() != expected.rows.keys():
        here, there = sorted(ours.keys() - expected.rows.keys()), sorted(expected.rows.keys() - ours.keys())
        raise Wrong(f"{id}: rows only here {here[:3]}, only in Spark {there[:3]}; {statement.sql}")
    for place, values in expected.rows.items():
        for number, (name, _, _) in enumerate(statement.aggregates):
            here, there = ours[place][number], values[number]
            sizes = expected.sizes[place]
            size = (sizes.get(f"heddle_s{number}"), sizes.get(f"heddle_m{number}"))
            if not agree(name, here, there, size):
                raise Wrong(f"{id}: {name} at {place} is {here!r} here, {there!r} in Spark; {statement.sql}")


def agree(name: str, ours: Any, theirs: Any, size: tuple[float | None, float | None]) -> bool:
    """Whether both are the same answer: floats that are added may differ by what cancels."""
    if name in LISTS and ours is not None and theirs is not None:
        return sorted(map(repr, ours)) == sorted(map(repr, theirs))
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(agree(name, a, b, size) for a, b in zip(ours, theirs, strict=True))
    if not isinstance(theirs, float) or not isinstance(ours, float):
        return bool(ours == theirs) and type(ours) is type(theirs)
    if (math.isnan(ours) and math.isnan(theirs)) or ours == theirs:
        return True
    total, largest = size
    if name in UNORDERED:
        return largest is not None and math.isnan(largest)
    if total is None or largest is None:
        return name.startswith(("median", "percentile")) and math.isclose(ours, theirs, rel_tol=1e-14)
    if not math.isfinite(total):
        return math.isfinite(largest)  # the order of adding decides whether it overflows
    if name in SPREADS:
        return math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-6 * (1 + largest) ** 2)
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE * total)
