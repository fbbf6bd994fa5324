"""The generated parts of docs/catalog.md: aggregates and functions, from the tables of the code."""

from __future__ import annotations

from jobs.engine.events.language.functions import FUNCTIONS as EVALUATED
from jobs.engine.events.language.functions import LEFT_TO_SPARK
from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS, Aggregate
from optimizer.catalog.sql.grammar import FUNCTIONS
from tools.pages.parts import replace_parts


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


def refresh(page: str) -> str:
    """Return docs/catalog.md with its tables up to date."""
    parts = {"aggregates": aggregate_table(), "functions": function_list(), "left to Spark": left_to_spark()}
    return replace_parts(page, parts)
