"""The same events under several strategies and techniques; `spark-submit jobs/compare.py --help` says how.

Every plan is evaluated from scratch into a warehouse of its own that is thrown away, the first one of every technique
twice, so that none pays for what a technique compiles and loads.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jobs.runs.compare import Comparison, compare
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


def parse(arguments: Sequence[str]) -> tuple[str, Comparison, str]:
    """The catalog's folder, what to compare, and where to write it."""
    parser = argparse.ArgumentParser("compare.py", description=__doc__)
    parser.add_argument("catalog", help="the catalog's folder")
    parser.add_argument("--stream", required=True)
    parser.add_argument("--strategy", action="append", default=[])
    parser.add_argument("--technique", action="append", default=[])
    parser.add_argument("--rate", type=float)
    parser.add_argument("--keys", type=float)
    parser.add_argument("--files", type=int, default=0, help="only the oldest files")
    parser.add_argument("--report", required=True, help="where what was compared goes, as JSON")
    found = parser.parse_args(arguments)
    asked = Comparison(found.stream, tuple(found.strategy), tuple(found.technique), found.rate, found.keys, found.files)
    return found.catalog, asked, found.report


def main(arguments: Sequence[str]) -> int:
    """Run as a submitted job."""

    def say(line: str) -> None:
        sys.stderr.write(line + "\n")

    folder, asked, out = parse(arguments)
    try:
        found = compare(load_catalog(folder), asked, spark_session, say)
    except HeddleError as error:
        say(str(error))
        return 2
    Path(out).write_text(json.dumps([asdict(each) for each in found]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
