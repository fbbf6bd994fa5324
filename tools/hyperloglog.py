"""Writes down the tables of Spark's HyperLogLog++: raw estimates, their biases, the thresholds of linear counting.

Run it when Spark changes: python -m tools.hyperloglog"""

from __future__ import annotations

import json
from typing import Any

from jobs.kernels.tallies.registers import TABLES
from jobs.spark.session import spark_session


def read_tables(jvm: Any) -> dict[str, list[Any]]:
    """Return the tables as Spark's own class has them."""
    helper = jvm.org.apache.spark.sql.catalyst.util.HyperLogLogPlusPlusHelper
    return {
        "thresholds": [float(number) for number in helper.THRESHOLDS()],
        "raw": [[float(number) for number in row] for row in helper.RAW_ESTIMATE_DATA()],
        "bias": [[float(number) for number in row] for row in helper.BIAS_DATA()],
    }


def main() -> None:
    """Write the file."""
    spark = spark_session("local[1]")
    text = json.dumps(read_tables(spark._jvm), separators=(",", ":"))
    TABLES.write_text(text + "\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
