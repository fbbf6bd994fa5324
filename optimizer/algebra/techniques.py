"""The incremental techniques: one card each, as data. Everything else about a technique is looked up by its name.

The kernel is jobs/kernels/techniques/NAME.py, the formula of Omega is the card's `omega`, the counter that the formula
is tested against is tests/oracle/operations/NAME.py; forms, docs and benchmarks go through CARDS, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from optimizer.algebra.aggregates import COMPONENTS
from optimizer.errors import HeddleError

Needs = Literal["nothing", "invertible", "selective"]
Omega = Literal["overlap_factors", "two_per_range", "tree_walks", "three_per_query", "five_per_query", "shared_deque"]

BLOCK = "two_stacks_block"  # the technique whose kernel folds whole columns at once, not step by step
DEFAULT_TECHNIQUE = BLOCK  # the fastest one where all slices of a batch are at hand, as in the engine


@dataclass(frozen=True)
class Card:
    """What a technique is, what it needs of a component, and the operations a slide costs (n partials)."""

    name: str
    full_name: str
    needs: Needs
    multi_query: bool
    amortized: str
    worst_case: str
    space: str
    paper: str
    omega: Omega  # the formula of its estimated operations per edge, in optimizer/cost/omega.py


CARDS: dict[str, Card] = {
    card.name: card
    for card in (
        Card(
            "panes",
            "Panes, folded anew for every window",
            "nothing",
            True,
            "n - 1 per query",
            "n - 1 per query",
            "n",
            "Li et al., No Pane, No Gain, SIGMOD Record 2005; SlickDeque, section 2",
            "overlap_factors",
        ),
        Card(
            "panes_inv",
            "Panes with subtract on evict",
            "invertible",
            True,
            "2 per range",
            "2 per range",
            "n",
            "SlickDeque, section 2",
            "two_per_range",
        ),
        Card(
            "flat_fat",
            "Flat Fixed-sized Aggregator",
            "nothing",
            True,
            "log2(n), and at most 2 log2(n) per query",
            "the same",
            "2n",
            "Tangwongsan et al., General Incremental Sliding-Window Aggregation, PVLDB 2015; SlickDeque, section 2",
            "tree_walks",
        ),
        Card(
            "b_int",
            "Base Intervals",
            "nothing",
            True,
            "1, and at most 2 log2(n) per query",
            "log2(n), and at most 2 log2(n) per query",
            "2n",
            "Arasu and Widom, Resource Sharing in Continuous Sliding-Window Aggregates, VLDB 2004;"
            " SlickDeque, section 2",
            "tree_walks",
        ),
        Card(
            "flat_fit",
            "Flat and Fast Index Traverser",
            "nothing",
            True,
            "3 per query",
            "n",
            "2n",
            "Shein et al., FlatFIT, SSDBM 2017; SlickDeque, section 2",
            "three_per_query",
        ),
        Card(
            "two_stacks",
            "Two-Stacks",
            "nothing",
            False,
            "3 per range",
            "n per range",
            "2n per range",
            "Tangwongsan et al., Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time, DEBS 2017;"
            " SlickDeque, section 2",
            "three_per_query",
        ),
        Card(
            "daba",
            "De-Amortized Banker's Aggregator",
            "nothing",
            False,
            "5 per range",
            "8 per range",
            "2n per range",
            "Tangwongsan et al., Low-Latency Sliding-Window Aggregation in Worst-Case Constant Time, DEBS 2017;"
            " SlickDeque, section 2",
            "five_per_query",
        ),
        Card(
            "slick_deque_inv",
            "SlickDeque for invertible aggregates",
            "invertible",
            True,
            "2 per range",
            "2 per range",
            "n",
            "Shein et al., SlickDeque, EDBT 2018, section 3",
            "two_per_range",
        ),
        Card(
            "slick_deque_noninv",
            "SlickDeque for selective aggregates",
            "selective",
            True,
            "less than 2, for all queries together",
            "n, for all queries together",
            "2 to 2n",
            "Shein et al., SlickDeque, EDBT 2018, section 3",
            "shared_deque",
        ),
        Card(
            "two_stacks_block",
            "Two-Stacks, one flip per block",
            "nothing",
            True,
            "3 per range",
            "n per range",
            "2n per range",
            "ours, after van Herk, Pattern Recognition Letters 1992, and Gil and Werman, IEEE PAMI 1993",
            "three_per_query",
        ),
    )
}


def allowed(technique: str, component: str) -> bool:
    """Return whether the algebra of the component fits what the technique needs.

    >>> allowed("slick_deque_inv", "sum"), allowed("slick_deque_inv", "max")
    (True, False)
    """
    if COMPONENTS[component].tally:
        return technique == BLOCK
    needs = CARDS[technique].needs
    return needs == "nothing" or getattr(COMPONENTS[component], needs)


def require_allowed(technique: str, component: str) -> None:
    """Refuse an illegal pair with one line that names techniques that fit."""
    if allowed(technique, component):
        return
    if COMPONENTS[component].tally:
        raise HeddleError(
            f"technique {technique} folds partials of a fixed size, and the component {component} grows with the "
            f"values of a slice; use {BLOCK}, or auto"
        )
    fitting = ", ".join(name for name in CARDS if allowed(name, component))
    raise HeddleError(
        f"technique {technique} needs a component that is {CARDS[technique].needs}, and {component} is not; "
        f"use one of {fitting}, or auto"
    )
