"""The job of a scheduled micro-batch: what it imports while Spark starts does not break Spark's own imports."""

from __future__ import annotations

import subprocess
import sys

WATCHED = """
import sys

import jobs.spark.session
from expectations import micro_batch

class Watched:
    def __init__(self, **_):
        pass

    def start(self):
        print("pyspark.sql.session" in sys.modules)

    def join(self):
        pass

micro_batch.Thread = Watched
jobs.spark.session.session_for = lambda: lambda working: None
micro_batch.start_spark(False)
"""


def test_spark_is_imported_before_the_audit_is_in_another_thread() -> None:
    """Two threads that import pyspark at once, whose modules import each other, may each find a half of it."""
    outcome = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=False)
    assert (outcome.stdout, outcome.stderr) == ("True\n", "")
