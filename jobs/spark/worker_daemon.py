"""The process that Spark's Python workers are forked from: it has imported the engine, so that no worker has to.

python -m jobs.spark.worker_daemon pyspark.worker
"""

from __future__ import annotations

import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import jobs.spark.executor
import jobs.spark.frame_lane
import jobs.spark.unshared  # noqa: F401

if __name__ == "__main__":
    gc.freeze()  # pages that a collection does not touch stay shared with the workers
    manager()
