"""Spark's classes as Java has them in memory, kept in a file: a Java that maps it starts with half the work.

python -m jobs.spark.class_archive
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.spark.session import JAVA_OPTIONS, archive_file, java_options, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def archive_classes() -> Path:
    """Run a little of everything on Spark, and let Java keep the classes that it took; return the file.

    Java looks whether the file fits before it maps it: after a change of Java or of Spark it starts without.
    """
    file = archive_file()
    if not file.exists():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        _run_and_exit({JAVA_OPTIONS: f'{java_options()} -Xlog:cds*=off "-XX:ArchiveClassesAtExit={draft}"'})
        if draft.exists():  # not every Java can keep its classes
            draft.replace(file)
    return file


def _run_and_exit(settings: dict[str, str]) -> None:
    """Run a little of everything on a Spark of its own, and wait for the end of its Java."""
    from pyspark import SparkContext

    spark = spark_session("local[1]", settings)
    with tempfile.TemporaryDirectory() as folder:
        _run(spark, f"{folder}/events")
    spark.stop()
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()  # Java ends when nobody can tell it anything any more
    gateway.proc.wait()


def _run(spark: SparkSession, folder: str) -> None:
    spark.range(100).selectExpr("timestamp_seconds(id) AS ts", "id % 3 AS k", "id * 0.5D AS x").write.parquet(folder)
    events = spark.read.parquet(folder)
    events.createOrReplaceTempView("events")
    spark.sql(
        "SELECT k, window, sum(x), max(x) FROM events GROUP BY k, window(ts, '10 seconds', '5 seconds')"
    ).toArrow()
    events.mapInArrow(_pass_rows, events.schema).rdd.map(len).keyBy(abs).partitionBy(2).mapPartitions(
        _pass_rows
    ).collect()


def _pass_rows(rows: Any) -> Any:
    return rows


if __name__ == "__main__":
    archive_classes()
