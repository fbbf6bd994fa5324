"""The commands of `heddle`, in the order --help lists them. Each module imports what is heavy inside its function.

- catalog: `heddle catalog`: look at a catalog and find its mistakes, without Spark.
- check: `heddle check`: audit emitted windows against plain Spark, and publish what passes.
- demo: `heddle demo`, `heddle ui`: the whole of Heddle on this machine, once through its DAGs or until Ctrl-C.
- evaluate: `heddle evaluate`, `heddle backfill`: what has arrived on a stream, or a past interval anew.
- generate: `heddle generate`: synthetic events and the papers' workloads.
- machine: `heddle warm`, `heddle calibrate`, `heddle connectors`: what a machine does once, before its first run.
- plan: `heddle plan`, `heddle rewrite`: weave a catalog's queries into trees; why that is good, or as Spark SQL.
- plans: `heddle plans`, `heddle replan`, `heddle compare`: registered plans, the one in force, the one that is faster.
- results: `heddle results`, `publish`, `status`, `alerts`: published answers, who has got them, what they raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from heddle.commands.catalog import catalog
from heddle.commands.check import check
from heddle.commands.demo import demo, ui
from heddle.commands.evaluate import backfill, evaluate
from heddle.commands.generate import generate
from heddle.commands.machine import calibrate, connectors, warm
from heddle.commands.plan import plan, rewrite
from heddle.commands.plans import compare, plans, replan
from heddle.commands.results import alerts, publish, results, status

PANELS: dict[str, dict[str, Callable[..., Any] | typer.Typer]] = {
    "First steps": {"demo": demo, "ui": ui, "generate": generate, "catalog": catalog},
    "Plans": {"plan": plan, "replan": replan, "plans": plans, "compare": compare, "rewrite": rewrite},
    "Answers": {
        "evaluate": evaluate,
        "results": results,
        "status": status,
        "alerts": alerts,
        "check": check,
        "publish": publish,
        "backfill": backfill,
    },
    "This machine": {"warm": warm, "calibrate": calibrate, "connectors": connectors},
}
COMMANDS = {name: command for commands in PANELS.values() for name, command in commands.items()}
