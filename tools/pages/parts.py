"""Generated parts of pages that are otherwise written by hand: between `<!-- name -->` and `<!-- end -->`.

docs/catalog.md lists aggregates and functions, docs/workloads.md the workloads, README.md what `heddle plan` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from typer.testing import CliRunner

from heddle.main import app
from jobs.engine.events.language.functions import FUNCTIONS as EVALUATED
from jobs.engine.events.language.functions import LEFT_TO_SPARK
from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS, Aggregate
from optimizer.catalog.sql.grammar import FUNCTIONS
from optimizer.workloads import WORKLOADS
from optimizer.workloads.workload import Card, option_name

ROOT = Path(__file__).parents[2]
ARGUMENTS = ["plan", "examples/catalog", "--stream", "sensors", "--strategy", "tri_weave", "--cost", "operations"]
TIMED = "  planned in "  # the line that differs from run to run


def replace_parts(page: str, texts: Mapping[str, str]) -> str:
    r"""Return the page with every named part replaced by its text.

    >>> replace_parts("# Title\n<!-- sizes -->\nold\n<!-- end -->\n", {"sizes": "new"})
    '# Title\n<!-- sizes -->\nnew\n<!-- end -->\n'
    """
    for name, text in texts.items():
        start = re.escape(f"<!-- {name} -->\n")
        if not re.search(start, page):
            raise ValueError(f"the page has no part {name!r}; write <!-- {name} --> and <!-- end --> where it belongs")
        page = re.sub(f"(?<={start}).*?(?=<!-- end -->)", lambda _, text=text: text + "\n", page, flags=re.DOTALL)  # type: ignore[misc]
    return page


def aggregate_table() -> str:
    """Return every aggregate with its algebra as a Markdown table."""
    lines = ["| aggregate | also written | algebra | finished from | in Spark |", "|---|---|---|---|---|"]
    lines += [_row(aggregate) for aggregate in AGGREGATES.values()]
    return "\n".join(lines)


def _row(aggregate: Aggregate) -> str:
    aliases = ", ".join(f"`{alias}`" for alias in aggregate.aliases)
    several = "x, ..." if aggregate.arguments + aggregate.optional > 1 else "x"
    spark = aggregate.spark.format(x="x", y="y", ts="ts", arguments=several).replace("|", "\\|")
    needs = ", ".join(need.component for need in aggregate.needs)
    return f"| `{aggregate.name}` | {aliases} | {_algebra(aggregate)} | {needs} | `{spark}` |"


def _algebra(aggregate: Aggregate) -> str:
    if not aggregate.shared:
        return "holistic, unshared"
    component = COMPONENTS.get(aggregate.name)
    words: list[str] = [aggregate.kind]
    if component is not None and aggregate.kind == "distributive":
        words += [word for word in ("invertible", "selective") if getattr(component, word)]
    return ", ".join(words)


def function_list() -> str:
    """Return every function that an expression may use."""
    return ", ".join(f"`{name}`" for name in sorted(FUNCTIONS))


def left_to_spark() -> str:
    """Return what the file lane does not evaluate, with an example each."""
    names = ", ".join(f"`{name}`" for name, function in EVALUATED.items() if function.is_open)
    return "\n".join(f"- `{example}`: {words.replace('OPEN', names)}." for example, words in LEFT_TO_SPARK.items())


def refresh_catalog(page: str) -> str:
    """Return docs/catalog.md with its tables up to date."""
    parts = {"aggregates": aggregate_table(), "functions": function_list(), "left to Spark": left_to_spark()}
    return replace_parts(page, parts)


def workload_table(cards: Mapping[str, Card]) -> str:
    """Return the workloads as a Markdown table."""
    lines = ["| workload | paper | stream | what | options |", "|---|---|---|---|---|"]
    for name, card in cards.items():
        options = ", ".join(f"`{option_name(option)}` {default}" for option, default in card.options.items())
        lines.append(f"| `{name}` | {card.paper} | {card.stream} | {card.about} | {options} |")
    return "\n".join(lines)


def refresh_workloads(page: str) -> str:
    """Return docs/workloads.md with its table up to date."""
    return replace_parts(page, {"workloads": workload_table(WORKLOADS)})


def refresh_readme(page: str) -> str:
    """Return README.md with the command's output up to date."""
    lines = [line.rstrip() for line in run_plan().splitlines()]
    kept = [line for line in lines if line and not line.startswith((TIMED, "Next: "))]
    command = f"$ heddle {' '.join(ARGUMENTS)}"
    return replace_parts(page, {"plan": "\n".join(["```", command, *kept, "```"])})


def draw_plan(path: Path) -> None:
    """Write the picture of the same plan."""
    run_plan("--picture", str(path))


def run_plan(*more: str) -> str:
    """Return what the command prints, with the example catalog where the README has it."""
    arguments = [str(ROOT / word) if word.startswith("examples/") else word for word in ARGUMENTS]
    result = CliRunner().invoke(app, [*arguments, *more], catch_exceptions=False, env={"COLUMNS": "80"})
    if result.exit_code:
        raise ValueError(f"heddle plan failed:\n{result.output}")
    return result.output
