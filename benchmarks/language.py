"""Random expressions over odd values, evaluated on columns, against Spark's own answers: equal bits, or equal refusals.

An expression over the rows of one table is a case. Prints how many were evaluated, how many are left to Spark, how many
refusals were tried, and every difference; ends with 1 where there is one.
"""

from __future__ import annotations

import argparse
import sys

from jobs.spark.session import spark_session
from optimizer.catalog.model.query import UTC
from tests.conftest import SMALL
from tests.jobs.engine.events.language.against_spark import compare
from tests.jobs.engine.events.language.writer import Writer, odd_rows

AT_ONCE = 500  # expressions in one select
# clocks that are set by an hour, by half an hour, at midnight, by a whole day, and that are never set
ZONES = "Europe/Berlin America/New_York Australia/Lord_Howe America/Sao_Paulo Pacific/Apia Asia/Kolkata Europe/Dublin"


def main() -> int:
    """Compare, a select after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    zones = ZONES.split()
    spark, differences, evaluated, left, refusals = spark_session("local[1]", SMALL), 0, 0, 0, 0
    for part in range(-(-options.cases // AT_ONCE)):
        seed = options.seed + part
        writer = Writer(seed)
        zone = zones[part // 2 % len(zones)] if part % 2 else UTC
        write = writer.clock_expression if part % 4 == 3 else writer.expression
        outcome = compare(spark, odd_rows(48, seed), [write() for _ in range(AT_ONCE)], zone=zone)
        for difference in outcome.differences:
            print(f"  {zone}: {difference}")
        evaluated, left = evaluated + outcome.evaluated, left + len(outcome.left_to_spark)
        refusals, differences = refusals + outcome.refusals, differences + len(outcome.differences)
    print(f"{evaluated:,} expressions evaluated, {left:,} left to Spark, {refusals:,} refusals tried")
    print(f"{differences} differ from Spark's")
    spark.stop()
    return min(differences, 1)


if __name__ == "__main__":
    sys.exit(main())
