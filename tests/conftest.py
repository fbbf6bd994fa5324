"""What every test may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from jobs.session import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One local Spark for the whole test run."""
    session = spark_session("local[2]")
    yield session
    session.stop()
