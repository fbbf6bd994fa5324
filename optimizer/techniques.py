"""The incremental techniques: one card each, as data, read by the cost models, the kernels and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimizer.catalog.aggregates import COMPONENTS
from optimizer.errors import HeddleError

Needs = Literal["nothing", "invertible", "selective"]


@dataclass(frozen=True)
class Card:
    """What a technique is, what it needs of a component, and what its paper promises (n partials, q queries)."""

    name: str
    full_name: str
    needs: Needs
    multi_query: bool
    amortized: str
    worst_case: str
    space: str
    paper: str


CARDS: dict[str, Card] = {
    card.name: card
    for card in (
        Card("panes", "Naive over panes", "nothing", True, "n", "n", "n", "Weave Share, section 2"),
        Card("panes_inv", "Panes with subtract-on-evict", "invertible", True, "2", "2", "n", "SlickDeque, section 2"),
        Card(
            "flat_fat",
            "Flat Fixed-sized Aggregator",
            "nothing",
            True,
            "log2(n)",
            "log2(n)",
            "2n",
            "SlickDeque, section 2",
        ),
        Card("b_int", "Base Intervals", "nothing", True, "log2(n)", "log2(n)", "2n", "SlickDeque, section 2"),
        Card("flat_fit", "Flat and Fast Index Traverser", "nothing", True, "3", "n", "2n", "SlickDeque, section 2"),
        Card("two_stacks", "Two-Stacks", "nothing", False, "3", "n", "2n", "SlickDeque, section 2"),
        Card("daba", "De-Amortized Bankers Aggregator", "nothing", False, "5", "8", "2n", "SlickDeque, section 2"),
        Card(
            "slick_deque_inv",
            "SlickDeque for invertible aggregates",
            "invertible",
            True,
            "2",
            "2",
            "n",
            "SlickDeque, section 3",
        ),
        Card(
            "slick_deque_noninv",
            "SlickDeque for selective aggregates",
            "selective",
            True,
            "< 2",
            "n",
            "2 to 2n",
            "SlickDeque, section 3",
        ),
        Card(
            "two_stacks_block",
            "Two-Stacks, one flip per block",
            "nothing",
            True,
            "3",
            "n",
            "2n",
            "van Herk; Gil and Werman",
        ),
    )
}


def allowed(technique: str, component: str) -> bool:
    """Whether the algebra of the component fits what the technique needs."""
    needs = CARDS[technique].needs
    return needs == "nothing" or getattr(COMPONENTS[component], needs)


def require_allowed(technique: str, component: str) -> None:
    """Refuse an illegal pair with one line that names techniques that fit."""
    if not allowed(technique, component):
        fitting = ", ".join(name for name in CARDS if allowed(name, component))
        raise HeddleError(
            f"technique {technique} needs a component that is {CARDS[technique].needs}, and {component} is not; "
            f"use one of {fitting}, or auto"
        )
