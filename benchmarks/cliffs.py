"""What must not grow: the price of a row with the keys, of a measure with the measures, of events with the files.

    python -m benchmarks.cliffs [--files 5000] [--only rows,measures,predicates,files]

Prints one line each: CPU seconds of this process, or a ratio of them, the least of three rounds; on Spark, of all its
processes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.engine_world import measured, show, world
from jobs.engine.events.columns import Predicates
from jobs.engine.events.predicate_index import index_predicates
from jobs.engine.finals.answers import Answer, result_tables
from jobs.engine.program.program import Grouping, Input, MeasureProgram, QueryProgram
from jobs.engine.slices.slices import from_tables
from jobs.engine.warehouse.result_files import write_results
from jobs.host.storage import Storage
from jobs.kernels.algebra.operators import SUM_FLOAT
from jobs.spark.session import spark_session
from optimizer.windows.window import Window

MINUTE = 60_000_000
ROWS = 2_000_000


def least(run: Callable[[], object], rounds: int = 3) -> float:
    """CPU seconds of this process, the least of some rounds after one that warms up."""
    run()
    spent = []
    for _ in range(rounds):
        started = time.process_time()
        run()
        spent.append(time.process_time() - started)
    return min(spent)


def written_rows() -> None:
    """Lay out and write two million answers of one key, of a hundred thousand, of a million."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "results").mkdir()
        _written_rows(Path(folder))


def _written_rows(folder: Path) -> None:
    query = QueryProgram("q", Window(MINUTE, MINUTE), "sum", (), "", "", pa.float64(), "q@0")
    for keys in (1, 1_000, 100_000, 1_000_000):
        names = pa.table({"k": [f"machine-{number:07d}" for number in range(keys)]})
        group = np.repeat(np.arange(keys), ROWS // keys)
        start = np.tile(np.arange(ROWS // keys) * MINUTE, keys)
        answer = Answer(query, group, start, pa.array(np.random.default_rng(1).normal(size=len(group))))
        grouping = Grouping(("k",), (pa.string(),), ())

        def write(names: pa.Table = names, answer: Answer = answer, grouping: Grouping = grouping) -> None:
            write_results(Storage(str(folder)), 0, 0, "k", result_tables(grouping, [(names, [answer])]))

        show(f"microseconds a written row, {keys:,} keys", least(write) / len(group) * 1e6, "at most 0.1")


def many_measures() -> None:
    """Merge the slices of a tree with ten times the measures."""
    spent = {}
    for count in (500, 5_000):
        measures = [MeasureProgram(f"m{n}", "sum", SUM_FLOAT, "float64", "x", "", "") for n in range(count)]
        columns = {f"rows m{n} 0": np.arange(100.0) for n in range(count)}
        table = pa.table({"key k": ["a"] * 100, "start": np.arange(100), **columns})
        spent[count] = least(lambda table=table, measures=measures: from_tables([table, table], ["k"], measures))
    show("5,000 measures merged against ten times 500", spent[5_000] / (10 * spent[500]), "about 1")


def many_predicates() -> None:
    """Find which of 500 predicates a million events pass."""
    column = {"n": pa.array(np.random.default_rng(1).integers(0, 100_000, 1_000_000))}
    tests = [Input(f"p{number}", f"n BETWEEN {number * 200} AND {number * 200 + 199}") for number in range(500)]
    seconds = least(lambda: Predicates(index_predicates(tests, column)).signatures())
    show("CPU seconds a million events, 500 predicates", seconds, "at most 0.25")


def small_files(files: int) -> None:
    """Evaluate the same events from many files, and from one: in this process, then on Spark."""
    windows = [Window(60, 10), Window(120, 30), Window(600, 60), Window(30, 10)]
    with world(200 * files, 10, windows, files=1) as one, world(200 * files, 10, windows, files=files) as many:
        ratio = least(many.local) / least(one.local)
        show(f"{files:,} files of 200 events against one, in one process", ratio, "at most 10")
        spark = spark_session("local[2,4]")
        in_one, in_many = measured(lambda: one.job(spark), lambda: many.job(spark), times=2, warm=2)
        detail = f"{in_many:.2f} and {in_one:.2f} CPU s"
        show(f"{files:,} files of 200 events against one, on Spark", in_many / in_one, "at most 2", detail)


def main() -> None:
    """Measure one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--only", default="rows,measures,predicates,files")
    arguments = parser.parse_args()
    parts = {
        "rows": written_rows,
        "measures": many_measures,
        "predicates": many_predicates,
        "files": lambda: small_files(arguments.files),
    }
    for name in arguments.only.split(","):
        parts[name]()


if __name__ == "__main__":
    main()
