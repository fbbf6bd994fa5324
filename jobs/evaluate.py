"""The job that evaluates what has arrived on a stream; `spark-submit jobs/evaluate.py --help` says how."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from jobs.engine.warehouse.manifest import Manifest
from jobs.runs.request import LANES, Options, Request, evaluate_request
from jobs.spark.session import spark_session
from optimizer.errors import HeddleError


def parse(arguments: Sequence[str]) -> tuple[Request, str]:
    """The request of a command line, and where its report goes."""
    parser = argparse.ArgumentParser("evaluate.py", description=__doc__)
    parser.add_argument("catalog", help="the catalog's folder")
    parser.add_argument("--stream", required=True)
    parser.add_argument("--warehouse", required=True, help="where state and results are kept")
    parser.add_argument("--plan", default="", help="a plan of `heddle plan --out`; without it, one is made")
    parser.add_argument("--lane", default="auto", choices=LANES)
    parser.add_argument("--files-per-batch", type=int, default=0, help="all files that have arrived, when left out")
    parser.add_argument("--interval", default="", help="keep running, a batch every so often, as in '10 seconds'")
    parser.add_argument("--report", default="", help="also write the report here")
    found = parser.parse_args(arguments)
    options = Options(found.lane, found.files_per_batch, found.interval)
    return Request(found.catalog, found.stream, found.warehouse, found.plan, options), found.report


def main(arguments: Sequence[str]) -> int:
    """Run as a submitted job: lines of progress, then the report as one line of JSON."""
    request, file = parse(arguments)
    try:
        report = evaluate_request(request, spark_session, _say, _progress)
    except HeddleError as error:
        _say(str(error))
        return 2
    line = json.dumps(report.to_dict())
    if file:
        Path(file).write_text(line)
    sys.stdout.write(line + "\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def _progress(manifest: Manifest, seconds: float) -> None:
    counts = manifest.counts
    _say(f"batch {manifest.batch}: {counts['events']:,} events, {counts['results']:,} results, {seconds:.1f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
