"""The process that Spark's Python workers are forked from: it has imported the engine and loaded the compiled kernels,
so that no worker has to. A worker that did it would take a CPU second before its first event.

python -m jobs.spark.worker_daemon pyspark.worker
"""

from __future__ import annotations

import gc

from jobs.host.spark_runtime import prefer_installed_spark

prefer_installed_spark()  # before the imports that follow

import pyspark.worker  # noqa: E402, F401
from pyspark.daemon import manager  # noqa: E402

import jobs.spark.executor  # noqa: E402
import jobs.spark.frame_lane  # noqa: E402
import jobs.spark.unshared  # noqa: E402, F401
from jobs.host.cache import is_warm  # noqa: E402
from jobs.kernels.warm import warm  # noqa: E402

if __name__ == "__main__":
    if is_warm():  # else a worker compiles the few that it needs
        list(warm(techniques=[]))
    gc.freeze()  # pages that a collection does not touch stay shared with the workers
    manager()
