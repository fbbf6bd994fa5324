"""The job that evaluates the same events under several plans; `spark-submit jobs/compare.py --help` says how."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.host.command_line import Cost, Folder, Keys, Rate, run_job, takes
from jobs.host.say import say_to_stderr
from optimizer.algebra.techniques import CARDS
from optimizer.planning.choices import STRATEGY_NAMES

if TYPE_CHECKING:
    from jobs.runs.compare import Comparison

STRATEGY_HELP = f"How to search: {', '.join(STRATEGY_NAMES)}."
TECHNIQUE_HELP = f"How trees answer: auto, or one technique for all: {', '.join(CARDS)}."


def make_comparison(
    stream: Annotated[str, typer.Option(help="The stream whose events are evaluated.")],
    strategy: Annotated[list[str] | None, typer.Option(help=f"{STRATEGY_HELP} May be given more than once.")] = None,
    technique: Annotated[list[str] | None, typer.Option(help=f"{TECHNIQUE_HELP} May be given more than once.")] = None,
    rate: Rate = None,
    keys: Keys = None,
    cost: Cost = "seconds",
    files: Annotated[int, typer.Option(help="Only so many of the oldest files; 0 takes all.")] = 0,
) -> Comparison:
    """Return the comparison that a command line asks for."""
    from jobs.runs.compare import Comparison
    from optimizer.planning.choices import COMPARED_STRATEGIES, TECHNIQUE

    return Comparison(
        stream, tuple(strategy or COMPARED_STRATEGIES), tuple(technique or [TECHNIQUE]), rate, keys, files, cost
    )


@takes(make_comparison)
def compare(
    comparison: Comparison,
    folder: Folder,
    report: Annotated[str, typer.Option(metavar="FILE", help="Where what was compared goes, as JSON.")],
) -> None:
    """Evaluate every pair of strategy and technique from scratch."""
    from jobs.runs.compare import compare
    from jobs.spark.session import spark_session
    from optimizer.catalog.read.load import load_catalog

    plans = compare(load_catalog(folder), comparison, spark_session, say_to_stderr)
    Path(report).write_text(json.dumps([asdict(plan) for plan in plans]))


if __name__ == "__main__":
    run_job(compare)
