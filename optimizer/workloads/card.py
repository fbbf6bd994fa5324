"""What is known of a workload, as data: the command line and the docs are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc, signature

from optimizer.workloads.draws import option_name
from optimizer.workloads.workload import Workload


@dataclass(frozen=True)
class Card:
    """Where a workload comes from, and the stream its queries read."""

    generate: Callable[..., Workload]
    paper: str
    stream: str = "sensors"

    @property
    def about(self) -> str:
        """What the generator says of itself."""
        return getdoc(self.generate) or ""

    @property
    def options(self) -> dict[str, object]:
        """What may be asked of it, with the defaults."""
        parameters = signature(self.generate).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters if parameter.name != "queries"}


def markdown_table(cards: Mapping[str, Card]) -> str:
    """The workloads as docs/workloads.md shows them."""
    lines = ["| workload | paper | stream | what | options |", "|---|---|---|---|---|"]
    for name, card in cards.items():
        options = ", ".join(f"`{option_name(option)}` {default}" for option, default in card.options.items())
        lines.append(f"| `{name}` | {card.paper} | {card.stream} | {card.about} | {options} |")
    return "\n".join(lines)
