"""The SparkSession every job starts from."""

from __future__ import annotations

import logging
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.host.cache import cache_folder
from jobs.host.java import java_home
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# without its native library Hadoop starts a `chmod` for every local file it writes with a checksum beside it
PLAIN_FILES = {"spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem"}
STREAMING = "org.apache.spark.sql.execution.streaming.checkpointing"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.sql.streaming.checkpointFileManagerClass": f"{STREAMING}.FileSystemBasedCheckpointFileManager",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    **PLAIN_FILES,
}
QUIET = f'"-Dlog4j2.configurationFile={(Path(__file__).parent / "log4j2.properties").as_uri()}"'
# the JVM mostly directs: compiling its own code well costs more CPU than a batch's work ever gives back
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# where Spark reads and aggregates the events itself, the loops that run for long are compiled well, and only these
WORKING = (
    "-XX:+UseSerialGC -XX:Tier4InvocationThreshold=100000 -XX:Tier4MinInvocationThreshold=50000 "
    "-XX:Tier4CompileThreshold=100000 -XX:Tier4BackEdgeThreshold=2000000"
)
JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def prepare_environment() -> None:
    """Point Spark's launcher and its Python workers at this Java and this Python."""
    os.environ["JAVA_HOME"] = java_home(cache_folder())
    os.environ.setdefault("SPARK_HOME", spark_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def spark_home() -> str:
    """Where Spark is: its own scripts cannot find it below a path with a space."""
    found = find_spec("pyspark")
    return os.environ.get("SPARK_HOME") or str(Path((found and found.origin) or "").parent)


def java_options(working: bool = False) -> str:
    """How the JVM compiles its code."""
    return f"{QUIET} {WORKING if working else LEAN}"


def _known_master(master: str) -> str:
    """The master, if it can be one: Spark would say so in a stack trace."""
    if not re.match(r"local(\[[^]]+\])?$|(spark|k8s)://|local-cluster\[|yarn$", master):
        raise HeddleError(f"--master {master!r} is none; use local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT")
    return master


def spark_session(master: str | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """The running session, or a new one; under spark-submit the master is the submitter's choice."""
    prepare_environment()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("heddle").config(JAVA_OPTIONS, java_options())
    if master:
        builder = builder.master(_known_master(master))
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    # pyspark writes every failed query to stderr as JSON; errors reach the user as exceptions already
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        asked = f" by --master {master}" if master else ""
        raise HeddleError(f"Spark does not start{asked}; Java says why in the lines above") from None


Start = Callable[[], "SparkSession"]
