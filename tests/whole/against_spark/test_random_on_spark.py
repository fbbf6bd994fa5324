"""Random catalogs on Spark, in both lanes, against `spark.sql` of the same text: all rows, all values.

`python -m benchmarks.exactness` asks for many more.
"""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import SparkSession

from tests.jobs.engine.spark_comparison import Case, cases, compare_with_spark


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(case=cases())
def test_random_catalogs(spark: SparkSession, case: Case) -> None:
    compare_with_spark(spark, case)
