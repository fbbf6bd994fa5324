"""What every test may ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

# A test process of pytest-xdist has a main module without a file, which pyspark takes for a run of its doctests.
if not hasattr(sys.modules["__main__"], "__file__"):
    sys.modules["__main__"].__file__ = __file__

import pytest
from pyspark.sql import SparkSession

from jobs.spark.session import spark_session

# Tests run many small jobs on young JVMs: compiling them well would take longer than running them.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark for the whole test run."""
    session = spark_session("local[2]", SMALL)
    yield session
    session.stop()
