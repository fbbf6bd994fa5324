"""What an audit costs: beside the evaluation of the same micro-batch, and a whole scheduled cycle, in CPU seconds.

    python -m benchmarks.audits [--events 1000000] [--cycle 40000]

The catalog is that of `make run`, with its 102 statements over readings. An audit is counted from the import of
Great Expectations to the page, in the session of Spark that has evaluated the batch, as in the DAG heddle_evaluate;
Spark's start is counted in neither. The cycle is that DAG from its first task to its last, with Spark's start and
without Airflow's.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.verdict import Bound, print_verdict
from heddle.demo.world import EXAMPLE, STREAM
from heddle.processes import environment, start_airflow
from jobs.generate import generate
from jobs.generate.draws import Options
from jobs.host.machine import CpuMeter

ABOVE = 5.0  # CPU seconds that an audit may take more than the evaluation
CYCLE = 30.0  # CPU seconds of a scheduled cycle over few events
STATEMENTS = 5  # that the audit of a micro-batch looks at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000, help="of the micro-batch that is audited")
    parser.add_argument("--cycle", type=int, default=40_000, help="events of the scheduled cycle")
    parser.add_argument("--measure", metavar="HOME", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        json.dump(measure(Path(asked.measure)), sys.stdout)
        return
    with platform(asked.events) as home:
        seconds = measure_apart(home)
    with platform(asked.cycle) as home:
        cycle = scheduled_cycle(home)
    for name, spent in seconds.items():
        sys.stdout.write(f"{name}: {spent:.2f} CPU s\n")
    sys.stdout.write(f"cycle: {cycle:.2f} CPU s\n")
    print_verdict(
        [
            Bound(f"audit of {asked.events:,} events", seconds["audit"], seconds["evaluation"] + ABOVE, ".2f"),
            Bound(f"scheduled cycle over {asked.cycle:,} events", cycle, CYCLE, ".1f"),
        ]
    )


@contextmanager
def platform(events: int) -> Iterator[Path]:
    """A platform with the catalog of the first run, and a file of so many readings."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "catalog").mkdir()
        (home / "catalog" / "queries.yaml").write_text(runpy.run_path(str(EXAMPLE))["catalog"]())
        options = Options(events=events, rate=1000.0, file_events=events, out_of_order=0.01)
        generate("sensors", options, home / "data" / STREAM, lambda rows: None)
        yield home


def measure_apart(home: Path) -> dict[str, float]:
    """Measure evaluation and audit in a process of its own, which has imported nothing yet."""
    command = [sys.executable, "-m", "benchmarks.audits", "--measure", str(home)]
    log = home / "measure.log"
    with log.open("w") as sink:
        done = subprocess.run(
            command, env=environment(home), stdout=subprocess.PIPE, stderr=sink, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(log.read_text()[-2000:])
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def measure(home: Path) -> dict[str, float]:
    """Evaluate a micro-batch and audit it, as the job of a schedule does; return the CPU seconds of both."""
    from jobs.host.say import silent
    from jobs.runs.request import Request, evaluate_request
    from jobs.spark.session import session_for, spark_session

    request = Request(str(home / "catalog"), STREAM, str(home / "warehouse"))
    run = evaluate_request(request, session_for("local[2]"), silent, lambda *batch: None)
    with CpuMeter() as meter:
        from expectations.check import Choice, examine
        from optimizer.catalog.read.load import load_catalog

        choice = Choice(STATEMENTS, statements=STATEMENTS, brief=True)
        verdict = examine(spark_session(), load_catalog(request.catalog), STREAM, request.warehouse, choice)
    if not verdict.audit.passed:
        raise SystemExit(f"the audit has failed: {verdict.page}")
    return {"evaluation": run.cpu_seconds, "audit": meter.cpu_seconds}


def scheduled_cycle(home: Path) -> float:
    """Run the DAG heddle_evaluate on a planned stream; return the CPU seconds of all its processes."""
    airflow = start_airflow(home)
    try:
        _require_success(airflow.run("heddle_replan", {"stream": STREAM}, lambda line: None), airflow.log)
        with CpuMeter(airflow.process.pid) as meter:
            outcome = airflow.run("heddle_evaluate", {"stream": STREAM}, lambda line: None)
        _require_success(outcome, airflow.log)
    finally:
        airflow.close()
    return meter.cpu_seconds


def _require_success(outcome: dict[str, Any], log: Path) -> None:
    if outcome["state"] != "success":
        raise SystemExit(log.read_text()[-2000:])


if __name__ == "__main__":
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    main()
