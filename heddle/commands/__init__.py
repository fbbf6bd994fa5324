"""The commands of `heddle`, in the order --help lists them. Each module imports what is heavy inside its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from heddle.commands.backfill import backfill
from heddle.commands.catalog import catalog
from heddle.commands.check import check
from heddle.commands.compare import compare
from heddle.commands.demo import demo
from heddle.commands.evaluate import evaluate
from heddle.commands.generate import generate
from heddle.commands.plan import plan
from heddle.commands.plans import plans
from heddle.commands.replan import replan
from heddle.commands.results import results
from heddle.commands.rewrite import rewrite
from heddle.commands.ui import ui
from heddle.commands.warm import warm

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
    "compare": compare,
    "ui": ui,
    "warm": warm,
}
