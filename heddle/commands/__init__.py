"""The commands of `heddle`, in the order --help lists them. Each module imports what is heavy inside its function.

- catalog: `heddle catalog`: look at a catalog and find its mistakes, without Spark.
- check: `heddle check`: audit emitted windows against plain Spark, and publish what passes.
- compare: `heddle compare`: the same events under several strategies and techniques, estimated and measured.
- demo: `heddle demo`, `heddle ui`: the whole of Heddle on this machine, once through its DAGs or until Ctrl-C.
- evaluate: `heddle evaluate`, `heddle backfill`: what has arrived on a stream, or a past interval anew.
- generate: `heddle generate`: synthetic events and the papers' workloads.
- machine: `heddle warm`, `heddle calibrate`, `heddle connectors`: what a machine does once, before its first run.
- plan: `heddle plan`: weave a catalog's queries into trees, and say why the plan is good.
- plans: `heddle plans`: the registered plans of a stream, which one is in force, and how to change that.
- publish: `heddle publish`, `heddle status`, `heddle alerts`: what sinks have got, and what was raised.
- results: `heddle results`: a query's published answers, with the columns its SQL has.
- rewrite: `heddle rewrite`: a plan as plain Spark SQL, for a Spark without the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from heddle.commands.catalog import catalog
from heddle.commands.check import check
from heddle.commands.compare import compare
from heddle.commands.demo import demo, ui
from heddle.commands.evaluate import backfill, evaluate
from heddle.commands.generate import generate
from heddle.commands.machine import calibrate, connectors, warm
from heddle.commands.plan import plan
from heddle.commands.plans import plans, replan
from heddle.commands.publish import alerts, publish, status
from heddle.commands.results import results
from heddle.commands.rewrite import rewrite

COMMANDS: dict[str, Callable[..., Any] | typer.Typer] = {
    "demo": demo,
    "catalog": catalog,
    "generate": generate,
    "plan": plan,
    "replan": replan,
    "plans": plans,
    "rewrite": rewrite,
    "evaluate": evaluate,
    "check": check,
    "backfill": backfill,
    "results": results,
    "publish": publish,
    "status": status,
    "alerts": alerts,
    "compare": compare,
    "ui": ui,
    "warm": warm,
    "calibrate": calibrate,
    "connectors": connectors,
}
