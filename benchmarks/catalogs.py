"""What expressions cost: the example catalog against a scan, odd expressions added to it, usual ones beside sum(x).

    python -m benchmarks.catalogs [--events 3000000] [--only PART,PART]      (--help names the parts)

Everything is measured in one run, warm, by the CPU of the whole process tree. The engine runs in one process, without
Spark; the yardstick is Spark's own scan of the columns that the catalog reads, in a process of its own.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.engine_world import World, measured, show
from jobs.engine.events.file_types import file_types
from jobs.engine.program.compile import compile_program
from jobs.generate import generate
from jobs.generate.draws import Options
from jobs.spark.session import prepare_environment
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream

EXAMPLES = Path(__file__).parents[1] / "examples" / "catalog"
RATE = 1_000.0  # events a second
COLUMNS = ("energy_1", "energy_2", "energy_3", "temperature")
USUAL = {  # a usual expression -> the column that sum(x) is of
    "energy_1 + 1": "energy_1",
    "energy_1 * energy_2": "energy_1",
    "energy_1 / 2": "energy_1",
    "energy_1 / energy_2": "energy_1",
    "energy_1 * 0.5D": "energy_1",
    "abs(energy_1)": "energy_1",
    "sqrt(abs(energy_1))": "energy_1",
    "pow(energy_1, 2)": "energy_1",
    "ln(energy_1)": "energy_1",
    "log10(energy_1)": "energy_1",
    "exp(energy_1 / 1000)": "energy_1",
    "round(energy_1, 2)": "energy_1",
    "floor(energy_1)": "energy_1",
    "cast(energy_1 AS BIGINT)": "energy_1",
    "CASE WHEN running THEN energy_1 ELSE 0 END": "energy_1",
    "if(alarm, energy_1, energy_2)": "energy_1",
    "coalesce(energy_1, 0)": "energy_1",
    "greatest(energy_1, energy_2)": "energy_1",
    "cycle % 10": "cycle",
    "hour(ts)": "cycle",
}
ODD = [
    *USUAL,
    "cycle DIV 7",
    "pmod(cycle, 7)",
    "cycle & 15",
    "shiftleft(cycle, 2)",
    "bit_count(cycle)",
    "least(energy_1, energy_2, energy_3)",
    "nullif(cycle, 0)",
    "nanvl(energy_1, 0)",
    "try_cast(energy_1 AS INT)",
    "bround(energy_1, 1)",
    "ceil(energy_1)",
    "sign(energy_1 - 100)",
    "hypot(energy_1, energy_2)",
    "atan2(energy_1, energy_2)",
    "cbrt(energy_1)",
    "sin(energy_1)",
    "dayofweek(ts)",
    "year(ts)",
    "minute(date_trunc('HOUR', ts))",
    "unix_millis(ts)",
    "length(machine)",
    "length(upper(machine))",
    "CASE WHEN machine LIKE '%1' THEN 1 ELSE 0 END",
    "if(substring(machine, 1, 1) = 'm', 1, 0)",
    "CASE WHEN cycle > 1.5 AND energy_1 BETWEEN 1 AND 1000 OR alarm THEN 1 END",
    "cast(cast(cycle AS DECIMAL(12, 2)) AS DOUBLE)",
][:40]


@contextmanager
def example_events(stream: str, events: int) -> Iterator[Path]:
    """A folder with events of one of the example catalog's streams."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        generate(stream, Options(events=events, file_events=-(-events // 10)), root / "data" / stream)
        yield root


def plan_example(root: Path, stream: str) -> World:
    """The woven queries of the example catalog; those that only plain Spark answers are left out."""
    shutil.copytree(EXAMPLES, root / "catalog")
    return _planned(root / "catalog", stream)


def plan_queries(root: Path, selects: Sequence[str]) -> World:
    """A catalog of aggregates of the sensors by machine, a minute every ten seconds."""
    folder = root / f"catalog_{uuid.uuid4().hex}"
    folder.mkdir()
    shutil.copy(EXAMPLES / "streams.yaml", folder)
    clock = "group_by: [machine], range: 1 minute, slide: 10 seconds"
    lines = [f'  - {{id: q{n}, stream: sensors, select: "{select}", {clock}}}' for n, select in enumerate(selects)]
    (folder / "queries.yaml").write_text("queries:\n" + "\n".join(lines))
    return _planned(folder, "sensors")


def _planned(folder: Path, stream: str) -> World:
    catalog = load_catalog(folder)
    return World(folder.parent, catalog, replace(plan_stream(catalog, stream, RATE), unshared=()))


def against_scan(events: int) -> None:
    """The example catalog, stream by stream, against a scan of the columns it reads."""
    for stream in ("sensors", "trades"):
        with example_events(stream, events) as root:
            here = plan_example(root, stream)
            file = next((root / "data" / stream).glob("*.parquet"))
            program = compile_program(here.catalog, here.plan, file_types(here.catalog, here.plan, str(file)))
            scan = _scan(root / "data" / stream, program.columns_needed)
            (local,) = measured(here.local, times=3, warm=2, clear=here.clear)
        show(
            f"{stream}: {len(here.plan.trees)} trees", local / scan, "at most 2.5 scans", f"{local:.2f} / {scan:.2f} s"
        )


def _scan(folder: Path, columns: Sequence[str]) -> float:
    command = [sys.executable, "-m", "benchmarks.catalogs", "--scan", str(folder), "--only", ",".join(columns)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout)


def scan(folder: str, columns: Sequence[str]) -> None:
    """Print the CPU seconds in which Spark, as its users start it, reads some columns."""
    prepare_environment()
    spark = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    counts = [f"count({column})" for column in columns]
    print(measured(lambda: spark.read.parquet(folder).selectExpr(*counts).collect(), times=4)[0])


def odd_expressions(events: int) -> None:
    """Twenty queries, and each of the odd expressions added to them in turn."""
    usual = [f"{name}({column})" for name in ("sum", "max", "min", "avg", "stddev") for column in COLUMNS]
    with example_events("sensors", events) as root:
        without = plan_queries(root, usual)
        (plain,) = measured(without.local, times=4, warm=2, clear=without.clear)
        for expression in ODD:
            here = plan_queries(root, [*usual, f"sum({expression})"])
            again, added = measured(without.local, here.local, times=2, warm=1, clear=here.clear)
            plain = min(plain, again)
            show(f"20 queries and sum({expression})", added / again, "at most 1.1", f"{added:.2f} / {again:.2f} s")


def usual_expressions(events: int) -> None:
    """The sum of a usual expression, alone, against the sum of a column."""
    with example_events("sensors", events) as root:
        for expression, column in USUAL.items():
            pair = [plan_queries(root, [f"sum({text})"]) for text in (column, expression)]
            plain, here = measured(*(each.local for each in pair), times=3, warm=1, clear=pair[0].clear)
            show(f"sum({expression})", here / plain, "at most 2", f"{here:.2f} / {plain:.2f} s")


PARTS: dict[str, Callable[[int], None]] = {
    "example": against_scan,
    "usual": usual_expressions,
    "odd": odd_expressions,
}


def main() -> None:
    """Run the parts asked for and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=3_000_000)
    parser.add_argument("--only", default=",".join(PARTS), help="some of " + ", ".join(PARTS))
    parser.add_argument("--scan", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scan:
        scan(arguments.scan, arguments.only.split(","))
        return
    asked = arguments.only.split(",")
    if unknown := [name for name in asked if name not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}; choose some of {', '.join(PARTS)}")
    for name in asked:
        PARTS[name](arguments.events)


if __name__ == "__main__":
    main()
