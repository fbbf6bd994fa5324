"""Plain Spark on a few of the queries, over a slice of the events: a process of its own, which is measured.

    python -m heddle.demo.plain_spark HOME OUT.json

Spark has started, has read the files and has answered one of the queries before the measurement begins: what it takes
once is not multiplied with the queries and events. Its Java compiles as Java does by itself.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from heddle.demo.world import FILE, STREAM, data_folder

QUERIES = (  # one of every team, the first is shown
    *("energy_1_avg_5m", "working_temperature_max_2m", "above_50_1m", "alarms_5m", "plant_energy_2_sum_15m"),
)
FILES = 2  # of the events: the slice
SHOWN = 10  # rows that are printed beside Heddle's


def measure(home: Path) -> dict[str, Any]:
    """Run a few of the user's own statements on plain Spark; return what they took, and the rows of the first."""
    from jobs.host.machine import CpuMeter
    from jobs.spark.session import JAVA_OPTIONS, QUIET, spark_session
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(home / "catalog")
    spark = spark_session("local[*]", {JAVA_OPTIONS: QUIET})
    files = [str(file) for file in sorted(data_folder(home).glob("part-*.parquet"))[:FILES]]
    spark.read.parquet(*files).createOrReplaceTempView(STREAM)
    spark.sql(f"SELECT count(*) FROM {STREAM}").collect()
    answers = spark.sql(catalog.statements[QUERIES[0]].sql).toArrow()
    with CpuMeter() as meter:
        for id in QUERIES:
            spark.sql(catalog.statements[id].sql).write.format("noop").mode("overwrite").save()
    rows = beside(answers, home, QUERIES[0])
    return {
        "queries": list(QUERIES),
        "events": FILES * FILE,
        "cpu_seconds": meter.cpu_seconds,
        "wall_seconds": meter.wall_seconds,
        "query": QUERIES[0],
        "sql": catalog.statements[QUERIES[0]].sql,
        "rows": rows,
    }


def beside(answers: pa.Table, home: Path, id: str) -> list[dict[str, str]]:
    """Return rows of a query by Heddle and by Spark, in windows that the slice holds in full."""
    from jobs.results import results_table
    from optimizer.catalog.read.load import load_catalog

    catalog = load_catalog(home / "catalog")
    *places, value = [column.name for column in catalog.statements[id].columns]
    theirs = {_place(row, places): row[value] for row in answers.to_pylist()}
    ours = results_table(str(home / "warehouse"), catalog, id).to_pylist()
    first = len(theirs) // 2
    return [
        {**_readable(row, places), "Heddle": repr(row[value]), "plain Spark": repr(theirs[_place(row, places)])}
        for row in ours[first : first + SHOWN]
        if _place(row, places) in theirs
    ]


def _place(row: dict[str, Any], places: list[str]) -> tuple[Any, ...]:
    return tuple(row[name]["start"].timestamp() if isinstance(row[name], dict) else row[name] for name in places)


def _readable(row: dict[str, Any], places: list[str]) -> dict[str, str]:
    window = {"window": f"{row['window']['start']:%H:%M:%S} to {row['window']['end']:%H:%M:%S}"}
    return {name: str(row[name]) for name in places if name != "window"} | window


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(measure(Path(sys.argv[1]))))
