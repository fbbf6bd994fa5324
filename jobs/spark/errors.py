"""Errors that come from Spark, in the words of the person who can mend them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobs.engine.warehouse.consumed_files import plain_path
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CARRY_ON = "nothing was published halfway; run again to carry on"
UNREADABLE = re.compile(r"\[FAILED_READ_FILE[.](\w+)\] Encountered error while reading file (\S+)[.](?:\s|$)")


def as_user_error(spark: SparkSession, error: Exception) -> Exception:
    """Return an error as the one line that its user needs; any other error as it is."""
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
