"""The generated part of docs/workloads.md: the table of the workloads, from their cards."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.workloads import WORKLOADS
from optimizer.workloads.workload import Card, option_name
from tools.pages.parts import replace_parts


def workload_table(cards: Mapping[str, Card]) -> str:
    """Return the workloads as a Markdown table."""
    lines = ["| workload | paper | stream | what | options |", "|---|---|---|---|---|"]
    for name, card in cards.items():
        options = ", ".join(f"`{option_name(option)}` {default}" for option, default in card.options.items())
        lines.append(f"| `{name}` | {card.paper} | {card.stream} | {card.about} | {options} |")
    return "\n".join(lines)


def refresh(page: str) -> str:
    """Return docs/workloads.md with its table up to date."""
    return replace_parts(page, {"workloads": workload_table(WORKLOADS)})
