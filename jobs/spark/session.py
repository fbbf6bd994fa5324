"""The SparkSession every job starts from, and Spark's errors in the words of the person who can mend them."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.engine.warehouse.consumed_files import plain_path
from jobs.host.cache import cache_folder
from jobs.host.spark_runtime import java_home
from jobs.host.storage import bucket_endpoint
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Start = Callable[[], "SparkSession"]
StartFor = Callable[[bool], "SparkSession"]  # whether Spark has work of its own

# without its native library Hadoop starts a `chmod` for every local file it writes with a checksum beside it
PLAIN_FILES = {
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    # S3A's buffers on disk cannot do with such files; all that Spark itself writes is its small checkpoint
    "spark.hadoop.fs.s3a.fast.upload.buffer": "array",
}
STREAMING = "org.apache.spark.sql.execution.streaming.checkpointing"
ZONE = "spark.sql.session.timeZone"
# of more than 32 files that a batch has or Spark reads, Spark looks for each by a task of its own, up to so many
LISTING_TASKS = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
# the engine's answers depend on these, whatever the submitter says
REQUIRED = {ZONE: "UTC"}
DEFAULTS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.reuse": "true",
    "spark.sql.streaming.checkpointFileManagerClass": f"{STREAMING}.FileSystemBasedCheckpointFileManager",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    LISTING_TASKS: "64",
    **PLAIN_FILES,
}
# one machine and a few cores: a cluster needs more partitions, and its users their page
LOCAL_DEFAULTS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", LISTING_TASKS: "2"}
# one import of the engine for all workers of this machine
WORKERS = {"spark.python.daemon.module": "jobs.spark.worker_daemon"}
SHIPPED = ("spark.submit.pyFiles", "spark.files", "spark.archives")  # to the workers, not to what these are forked from
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
    """Return where Spark is: its own scripts cannot find it below a path with a space."""
    package = find_spec("pyspark")
    return os.environ.get("SPARK_HOME") or str(Path((package and package.origin) or "").parent)


def java_options(working: bool = False) -> str:
    """Return how the JVM compiles its code, and where classes are that it need not load and verify again."""
    return f"{QUIET} {WORKING if working else LEAN}{archive_options()}"


def archive_options() -> str:
    """Name the archive of Spark's classes, if `heddle warm` has made one; Java ignores one that does not fit it."""
    file = archive_file()
    return f' "-XX:SharedArchiveFile={file}" -Xlog:cds*=off' if file.exists() else ""


def archive_file() -> Path:
    """Return where `jobs.spark.class_archive` keeps the classes of this Spark."""
    return cache_folder() / "java" / f"spark-{hashlib.sha256(spark_home().encode()).hexdigest()[:16]}.jsa"


def session_settings(submitted: Mapping[str, str], master: str | None, settings: Mapping[str, str]) -> dict[str, str]:
    """Return what a session is built with: defaults only for what the submitter left open, small ones only locally."""
    is_local = re.match(r"local(\[|$)", master or submitted.get("spark.master", "local"))
    defaults = {JAVA_OPTIONS: java_options(), **DEFAULTS, **(LOCAL_DEFAULTS if is_local else {})}
    if is_local and not any(submitted.get(name) for name in SHIPPED):
        defaults |= WORKERS
    defaults |= _bucket_settings()
    open_defaults = {name: value for name, value in defaults.items() if name not in submitted}
    return {**open_defaults, **REQUIRED, **settings}


def _bucket_settings() -> dict[str, str]:
    """Return what lets Spark reach buckets at the endpoint that the environment names."""
    endpoint = bucket_endpoint()
    if not endpoint:
        return {}
    is_secure = str(endpoint.startswith("https://")).lower()
    names = {"endpoint": endpoint, "path.style.access": "true", "connection.ssl.enabled": is_secure}
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in names.items()}


def _submitted_settings() -> dict[str, str]:
    """Return the submitter's configuration: Java, which spark-submit starts before Python, knows it."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # connects to that Java
    return dict(SparkConf().getAll())


def _require_master(master: str) -> None:
    """Refuse what cannot be a master: Spark would say so in a stack trace."""
    if not re.match(r"local(\[[^]]+\])?$|(spark|k8s)://|local-cluster\[|yarn$", master):
        raise HeddleError(f"--master {master!r} is none; use local[*], spark://HOST:PORT, yarn or k8s://HOST:PORT")


def session_for(master: str | None = None) -> StartFor:
    """Return what starts a session whose Java compiles its code as fits the work."""
    return lambda working: spark_session(master, {JAVA_OPTIONS: java_options(working=True)} if working else None)


def spark_session(master: str | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """Return the running session, or a new one; under spark-submit the submitter's choices count."""
    prepare_environment()
    if master:
        _require_master(master)
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("heddle")
    if master:
        builder = builder.master(master)
    for name, value in session_settings(_submitted_settings(), master, settings or {}).items():
        builder = builder.config(name, value)
    # pyspark writes every failed query to stderr as JSON; errors reach the user as exceptions already
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        by_master = f" by --master {master}" if master else ""
        raise HeddleError(f"Spark does not start{by_master}; Java says why in the lines above") from None


def in_zone(spark: SparkSession, zone: str) -> SparkSession:
    """Return another session of the same Spark, whose clocks show a zone; the given session does not change."""
    if spark.conf.get(ZONE) == zone:
        return spark
    session = spark.newSession()
    session.conf.set(ZONE, zone)
    return session


CARRY_ON = "nothing was published halfway; run again to carry on"
UNREADABLE = re.compile(r"\[FAILED_READ_FILE[.](\w+)\] Encountered error while reading file (\S+)[.](?:\s|$)")


def as_user_error(spark: SparkSession, error: Exception) -> Exception:
    """Return one line that says what an error of Spark means to its user; return other errors unchanged."""
    from pyspark.errors import AnalysisException, ArithmeticException, DateTimeException, NumberFormatException

    if isinstance(error, HeddleError):
        return error
    text = _text(error)
    if "No space left on device" in text:
        return HeddleError(f"a disk of Spark is full; free some space. {CARRY_ON}")
    if jvm_is_gone(spark):
        return HeddleError(f"Spark's Java process has died; {CARRY_ON}")
    if "Python worker exited unexpectedly" in text:
        return HeddleError(f"a Python worker died again and again (out of memory?); {CARRY_ON}")
    unread = UNREADABLE.search(text)
    if unread and unread[1] != "PARQUET_COLUMN_DATA_TYPE_MISMATCH":
        return HeddleError(f"{plain_path(unread[2])}: cannot be read; mend or remove the file, then run again")
    if "PATH_NOT_FOUND" in text or "Path does not exist" in text:
        return HeddleError("the stream's path does not exist; create the folder or mend `path` in the catalog")
    if isinstance(error, AnalysisException | ArithmeticException | DateTimeException | NumberFormatException):
        return HeddleError(f"Spark refuses the queries or the events: {text.strip().splitlines()[0]}")
    return error


def _text(error: Exception) -> str:
    """Return the text of an error; py4j asks the Java process for it, which may be gone."""
    try:
        return str(error)
    except Exception:  # whatever py4j raises when nobody is there
        return ""


def jvm_is_gone(spark: SparkSession) -> bool:
    """Return whether the driver's Java process answers no more."""
    try:
        spark.sparkContext._jsc.sc().isStopped()
    except Exception:  # whatever py4j raises when nobody is there
        return True
    return False
