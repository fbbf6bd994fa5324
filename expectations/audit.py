"""The job that audits what waits to be published; `spark-submit expectations/submit.py --help` says how.

It decides nothing: the verdict is written to a file, and publishing is a step of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from expectations.check import SAMPLE, Choice, examine
from expectations.sample.windows import STATEMENTS
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


def main(arguments: Sequence[str]) -> int:
    """Run as a submitted job."""
    parser = argparse.ArgumentParser("submit.py", description=__doc__)
    parser.add_argument("catalog", help="the catalog's folder")
    parser.add_argument("--stream", required=True)
    parser.add_argument("--warehouse", required=True)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="windows of each query")
    parser.add_argument("--statements", type=int, default=STATEMENTS, help="that are looked at, others every batch")
    parser.add_argument("--verdict", required=True, help="where the verdict goes, as JSON")
    asked = parser.parse_args(arguments)
    try:
        catalog = load_catalog(asked.catalog)
        choice = Choice(asked.sample, statements=asked.statements)
        found = examine(spark_session(), catalog, asked.stream, asked.warehouse, choice)
    except HeddleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    Path(asked.verdict).write_text(json.dumps(found.to_dict()))
    audit = found.audit
    verdict = "as plain Spark has them" if audit.passed else "NOT as plain Spark has them"
    sys.stderr.write(f"{audit.rows:,} rows of {audit.statements} statements, {audit.windows:,} windows: {verdict}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
