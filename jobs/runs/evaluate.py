"""Evaluate what has arrived on a stream, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.host.signals import stop_on_signal
from jobs.runs.on_spark import Streaming
from jobs.runs.report import RunReport
from jobs.runs.request import Options
from jobs.runs.run import Progress, open_run, silent
from jobs.spark.stream_frames import driver_of
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def evaluate(
    spark: SparkSession,
    catalog: Catalog,
    plan: Plan,
    warehouse: str,
    options: Options = Options(),  # noqa: B008 (frozen)
    progress: Progress = silent,
) -> RunReport:
    """Evaluate a stream's plan on what has arrived, and say what was done."""
    buckets = options.buckets or spark.sparkContext.defaultParallelism
    driver_of(catalog, plan.stream)
    with open_run(catalog, plan, warehouse, "spark", buckets, progress) as run, stop_on_signal() as stop:
        Streaming(spark, run, options, stop).go()
    return run.report
