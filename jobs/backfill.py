"""The job that computes a past interval anew; `spark-submit jobs/backfill.py --help` says how."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.host.say import Say
from jobs.runs.backfill import backfill, parse_time, past_of, repair
from jobs.runs.request import Request
from jobs.spark.session import spark_session
from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from jobs.spark.session import Start


@dataclass(frozen=True)
class Backfill:
    """Which past of which stream, and where to."""

    request: Request
    low: str = ""
    high: str = ""
    into: str = ""
    repair: bool = False

    def run(self, start: Start, say: Say) -> dict[str, Any]:
        """Compute it, and say what was done. A mistake is found before Spark is started."""
        if self.repair == bool(self.into) or (self.into and not (self.low and self.high)):
            raise HeddleError("give --from, --to and --into, or --repair alone")
        span = (parse_time(self.low, "--from"), parse_time(self.high, "--to")) if self.into else None
        catalog, plan = self.request.prepare(say, start)
        past = past_of(start, catalog, plan, self.request.warehouse)
        return backfill(past, self.into, span) if span else repair(past)


def parse(arguments: Sequence[str]) -> Backfill:
    """The backfill of a command line."""
    parser = argparse.ArgumentParser("backfill.py", description=__doc__)
    parser.add_argument("catalog", help="the catalog's folder")
    parser.add_argument("--stream", required=True)
    parser.add_argument("--warehouse", required=True, help="the live one, which is only read unless --repair")
    parser.add_argument("--plan", default="", help="a plan of `heddle plan --out`; without it, the one in force")
    parser.add_argument("--from", dest="low", default="", help="windows that end after this time")
    parser.add_argument("--to", dest="high", default="", help="windows that end up to this time")
    parser.add_argument("--into", default="", help="the warehouse that gets the results")
    parser.add_argument("--repair", action="store_true", help="compute the quarantined batches anew instead")
    found = parser.parse_args(arguments)
    request = Request(found.catalog, found.stream, found.warehouse, found.plan)
    return Backfill(request, found.low, found.high, found.into, found.repair)


def main(arguments: Sequence[str]) -> int:
    """Run as a submitted job: the outcome is one line of JSON."""
    asked = parse(arguments)
    try:
        outcome = asked.run(spark_session, _say)
    except HeddleError as error:
        _say(str(error))
        return 2
    sys.stdout.write(json.dumps(outcome) + "\n")
    return 0


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
