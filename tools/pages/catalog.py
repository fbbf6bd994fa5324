"""The generated parts of docs/catalog.md: what the tables of the code say, as a page."""

from __future__ import annotations

import re

from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS, Aggregate
from optimizer.catalog.sql.allowed import FUNCTIONS

_PARTS = r"<!-- {0} -->\n.*?<!-- end -->"


def aggregate_table() -> str:
    """Every aggregate with its algebra, as a Markdown table."""
    lines = ["| aggregate | also written | algebra | finished from | in Spark |", "|---|---|---|---|---|"]
    lines += [_row(aggregate) for aggregate in AGGREGATES.values()]
    return "\n".join(lines)


def _row(aggregate: Aggregate) -> str:
    aliases = ", ".join(f"`{alias}`" for alias in aggregate.aliases)
    spark = aggregate.spark.format(x="x", y="y", ts="ts").replace("|", "\\|")
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
    """Every function an expression may use."""
    return ", ".join(f"`{name}`" for name in sorted(FUNCTIONS))


def refresh(page: str) -> str:
    """The page with its generated parts up to date."""
    for name, text in (("aggregates", aggregate_table()), ("functions", function_list())):
        part = f"<!-- {name} -->\n{text}\n<!-- end -->"
        page = re.sub(_PARTS.format(name), lambda _, part=part: part, page, flags=re.DOTALL)  # type: ignore[misc]
    return page
