"""The job that evaluates what has arrived on a stream; `spark-submit jobs/evaluate.py --help` says how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.options import Options
from jobs.report import RunReport
from jobs.run import Progress, open_run, silent
from jobs.stopping import stop_on_signal
from jobs.streaming import Streaming, check_source
from optimizer.catalog.catalog import Catalog
from optimizer.plan import Plan

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
    with open_run(catalog, plan, warehouse, "spark", buckets, progress) as run, stop_on_signal() as stop:
        check_source(run)
        Streaming(spark, run, options, stop).go()
    return run.report
