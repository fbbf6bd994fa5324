"""Random catalogs on Spark against `spark.sql` of the user's own text: all rows, both lanes, one line a catalog.

    python -m benchmarks.exactness [--catalogs 50] [--seed 1]

Ends at the first row that differs, and shows it.
"""

from __future__ import annotations

import argparse
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from jobs.spark.session import spark_session
from tests.conftest import SMALL
from tests.jobs.engine.spark_comparison import Case, cases, compare_with_spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--catalogs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    spark = spark_session("local[2]", SMALL)
    print(f"{'queries':>8} {'events':>8} {'batches':>8} {'rows':>8} {'seconds':>8}  planned by")

    @seed(asked.seed)
    @settings(
        max_examples=asked.catalogs,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=cases())
    def compare(case: Case) -> None:
        started = time.perf_counter()
        rows = compare_with_spark(spark, case)
        queries = sum(len(stated.asked) for stated in case.stated.values())
        numbers = (queries, len(case.arrival.events), len(case.arrival.batches), rows)
        told = " ".join(f"{number:8}" for number in numbers)
        print(f"{told} {time.perf_counter() - started:8.1f}  {case.strategy}, {case.technique}", flush=True)

    compare()


if __name__ == "__main__":
    main()
