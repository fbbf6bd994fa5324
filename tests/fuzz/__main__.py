"""Tries random cases for some minutes; writes the first wrong one, made small, as a folder that can be run again.

python -m tests.fuzz [--minutes 1] [--seed 1] [--into run/fuzz] [--oracle python|spark|others|itself]

By default a slow and obvious oracle in Python judges; with --oracle spark, plain Spark judges by the user's own SQL;
with --oracle others, DuckDB and polars do, where they mean the same; with --oracle itself, the case evaluated plainly.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given

from tests.fuzz.case import Case, cases, drawn
from tests.fuzz.coverage import Coverage
from tests.fuzz.draw_case import draw_case
from tests.fuzz.shrink import shrink_case
from tests.fuzz.whole_case import WholeCase
from tests.worlds.warehouse import STREAM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def try_cases(number: int, seed_number: int, coverage: Coverage) -> Case | None:
    """Try so many cases; return the first wrong one, made as small as it gets, or None."""
    failing: list[Case] = []

    @drawn(number, seed_number)
    @given(case=cases())
    def attempt(case: Case) -> None:
        coverage.add(case.features())
        folder = Path(tempfile.mkdtemp())
        try:
            world = case.write(folder)
            case.check(case.evaluate(world))
        except Exception:
            failing.append(case)
            raise
        finally:
            shutil.rmtree(folder)

    try:
        attempt()
    except Exception:
        traceback.print_exc()
    return failing[-1] if failing else None  # what is tried last is the smallest


def write_reproduction(case: Case, folder: Path) -> None:
    """Write the events and the catalog of a case, and how to run it again with Spark as the judge."""
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    options = f"{folder / 'catalog'} --stream {STREAM} --warehouse {folder / 'warehouse'}"
    commands = [
        f"heddle evaluate {options} --local --files-per-batch {case.files_per_batch}",
        f"heddle check {options} --all",
    ]
    (folder / "README").write_text("\n".join([*commands, "", repr(case), ""]))


def try_on_spark(minutes: float, first: int, into: Path) -> None:
    """Hold cases against plain Spark for some minutes; write the first wrong one, made small."""
    from jobs.spark.session import spark_session
    from tests.conftest import SMALL
    from tests.fuzz.against_spark import check_case

    spark = spark_session("local[2]", SMALL)
    spark.sparkContext.setLogLevel("OFF")
    coverage, until, number, rows = Coverage(), time.monotonic() + 60 * minutes, first, 0
    while time.monotonic() < until:
        case = draw_case(number)
        coverage.add(case.features())
        try:
            rows += check_case(spark, case).rows
        except Exception:
            traceback.print_exc(limit=-3)
            write_whole_case(shrink_case(case, lambda smaller: is_wrong(spark, smaller)), into)
            sys.stdout.write(f"wrong with --oracle spark --seed {number}: {into} has the case; {coverage.summary()}\n")
            sys.exit(1)
        number += 1
    sys.stdout.write(f"seeds {first} to {number - 1}: {rows:,} rows equal Spark's; {coverage.summary()}\n")


def try_on_itself(minutes: float, first: int, into: Path) -> None:
    """Hold cases against themselves for some minutes; write the first wrong one, made small."""
    from tests.fuzz.against_itself import check_case

    def fails(case: WholeCase) -> bool:
        try:
            check_case(case)
        except Exception:  # the same one or another
            return True
        return False

    coverage, until, number, rows = Coverage(), time.monotonic() + 60 * minutes, first, 0
    while time.monotonic() < until:
        case = draw_case(number)
        coverage.add(case.features())
        try:
            rows += check_case(case)
        except Exception:
            traceback.print_exc(limit=-3)
            write_whole_case(shrink_case(case, fails), into)
            sys.stdout.write(f"wrong with --oracle itself --seed {number}: {into} has the case; {coverage.summary()}\n")
            sys.exit(1)
        number += 1
    sys.stdout.write(
        f"seeds {first} to {number - 1}: {rows:,} rows are those of the plainest plan; {coverage.summary()}\n"
    )


def try_on_others(minutes: float, first: int) -> None:
    """Hold cases against DuckDB and polars for some minutes; the first wrong one is raised, made small."""
    from tests.fuzz import against_others

    until, number, confirmed = time.monotonic() + 60 * minutes, first, Counter[str]()
    while time.monotonic() < until:
        confirmed.update(against_others.try_cases(10, number))
        number += 1
    rows = ", ".join(f"{count:,} rows equal {name}'s" for name, count in confirmed.items())
    sys.stdout.write(f"seeds {first} to {number - 1}, 10 cases each: {rows}\n")


def is_wrong(spark: SparkSession, case: WholeCase) -> bool:
    """Whether a case is still wrong; whatever is raised, it is."""
    from tests.fuzz.against_spark import check_case

    try:
        check_case(spark, case)
    except Exception:  # the same one or another
        return True
    return False


def write_whole_case(case: WholeCase, folder: Path) -> None:
    """Write the events and the catalog of a case, and how to run it again."""
    shutil.rmtree(folder, ignore_errors=True)
    case.write(folder)
    options = f"{folder / 'catalog'} --stream {STREAM} --warehouse {folder / 'warehouse'}"
    commands = [f"heddle evaluate {options}", f"heddle check {options} --all"]
    (folder / "README").write_text("\n".join([*commands, "", f"seed {case.seed}: {case.evaluation}", ""]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--into", type=Path, default=Path("run/fuzz"))
    parser.add_argument("--oracle", choices=("python", "spark", "others", "itself"), default="python")
    options = parser.parse_args()
    if options.oracle == "spark":
        try_on_spark(options.minutes, options.seed, options.into)
        return
    if options.oracle == "itself":
        try_on_itself(options.minutes, options.seed, options.into)
        return
    if options.oracle == "others":
        try_on_others(options.minutes, options.seed)
        return
    coverage, until, number = Coverage(), time.monotonic() + 60 * options.minutes, options.seed
    while time.monotonic() < until:
        wrong = try_cases(25, number, coverage)
        if wrong is not None:
            write_reproduction(wrong, options.into)
            sys.stdout.write(f"wrong with --seed {number}: {options.into} has the case; {coverage.summary()}\n")
            sys.exit(1)
        number += 1
        sys.stdout.write(f"seeds {options.seed} to {number - 1}: {coverage.summary()}\n")


if __name__ == "__main__":
    main()
