"""docs/strategies.md, from the strategies' cards."""

from __future__ import annotations

from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.strategy import Card

HEAD = """# Strategies

A strategy puts a stream's queries into execution trees. Every strategy is one file of `optimizer/strategies/` and one
line of `STRATEGIES`; this page is generated from their cards.

    from optimizer import Window, optimize
    plan = optimize([Window(range=16, slide=4), Window(range=10, slide=5)], rate=1.2, strategy="cascade")
    print(plan.explain())

`heddle plan CATALOG --strategy NAME` does the same for a catalog. `time` counts n distinct windows, c classes of equal
edges and m trees; windows with equal edges are one class, which makes a search independent of the number of queries.

| strategy | full name | cost model | time | described in | dearer than no_share or shared? |
|---|---|---|---|---|---|
"""
TAIL = """
## Cost models

- weave_share: every tree reads the raw events. C = m λ + Σ E Ω.
- tri_weave: one sub-aggregation at the union of all edges feeds every tree. C = λ + Σ E_all + Σ E Ω, where a tree that
  has all edges pays no E_all.
- cascade: a tree reads the raw events, or the partials of a tree whose edges contain its own. C = Σ (feed + E Ω). Trees
  that answer no query may stand in between wherever that pays; a root with all edges is one of them.

E Ω, and the partials that one tree reads of another, count once per active key; feeds and finals count once per measure
(a component of an expression under a predicate). A tree that feeds others holds their measures too.

## A running plan

`optimizer.planning.running_plan.RunningPlan` lets queries join (`add`) and leave (`delete`) between batches: a query
joins the tree where it adds least, and the trees that changed are merged further while that pays, levels included. It
is woven anew when its cost is above what the performance slope of the last builds predicts by more than a tolerance, or
when too many queries changed for the slope to be trusted; `exact_deviation` says what a rebuild would give. A plan
keeps its builds: `heddle plans weave` and the DAGs `heddle_register_query` and `heddle_retire_query` change the plan in
force, and beyond the tolerance `heddle_replan` follows at once. `heddle evaluate --interval` follows its catalog by the
same search.

## Choices of a search

`heddle plan` takes three more: `--edges` names the counter of edges (divisor_mask, bit_set, prime_recursion, f1; auto
takes the quickest that fits), `--slicing` how a stream is cut (pairs; panes of one size; cutty, only where windows
start), and `--factor-windows off` leaves out the windows that factor_windows would invent: the paper's,
and those that only some of the windows have in common.
"""


def refresh(page: str) -> str:
    """Return docs/strategies.md, whatever it says now: all of it is generated."""
    return HEAD + "".join(map(_row, STRATEGIES.values())) + TAIL


def _row(card: Card) -> str:
    bounded = "possibly: it is what its name says" if card.plain else "never"
    return f"| `{card.name}` | {card.full_name} | {card.model} | {card.time} | {card.paper} | {bounded} |\n"
