"""What recent events tell a planner, whoever reads them.

They decide for shards or separate evaluation, tree by tree: |T| + k * beta against alpha * |T|.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from optimizer.plan.definition import EVENTS, Curve, Measure, Shards, Traffic, Tree, tree_cost


@dataclass(frozen=True)
class Passing:
    """Shares of the recent events: those that pass any of some predicates, the shards they make, both by predicate."""

    events: float
    shards: float
    events_of: dict[str, float]
    shards_of: dict[str, float]


class Recent(Protocol):
    """What recent events tell a planner of keys and predicates."""

    def keys(self, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many groups are active in a slice of this length, on average."""

    def active(self, group_by: tuple[str, ...], rate: float) -> Curve:
        """Return how many groups have an event in spans of time, at so many events per second."""

    def file_events(self) -> float:
        """Return the mean number of events in a file; 0 where nobody knows."""

    def share(self, where: str) -> float:
        """Return the share of events that pass a predicate; all pass ""."""

    def entries(self, measure: Measure, group_by: tuple[str, ...], slide: int) -> float:
        """Return how many different values slices of this length hold, of all groups, for every event that came; 1
        where nobody knows."""

    def passing(self, tree: Tree, wheres: Sequence[str]) -> Passing:
        """Count how the events that pass the predicates ("" passes all) fall into the tree's slices."""


def choose_shards(trees: Sequence[Tree], recent: Recent, traffic: Traffic) -> list[Tree]:
    """Return the trees, those that evaluate predicates on raw events with the cheaper way to do so.

    >>> from fractions import Fraction
    >>> from optimizer.plan.definition import Demand
    >>> from optimizer.windows.window import Window, WindowSet
    >>> class MostPass:
    ...     def passing(self, tree, wheres):
    ...         return Passing(1.0, 0.01, dict.fromkeys(wheres, 0.9), dict.fromkeys(wheres, 0.009))
    >>> windows = WindowSet.of([Window(10, 10)])
    >>> demands = tuple(Demand(Measure("sum", ("x",), where), "panes", windows) for where in ("x > 1", "y > 1"))
    >>> tree = Tree("1", ("a", "b"), windows, Fraction(1, 10), demands, EVENTS, (), 0.0)
    >>> [tree] = choose_shards([tree], MostPass(), Traffic(100.0))
    >>> tree.sharded, round(tree.shards.together, 1), round(tree.shards.separately, 1)
    (True, 101.8, 180.0)
    """
    by_id = {tree.id: measure_shards(tree, trees, recent, traffic) for tree in trees}
    return [replace(tree, cost=tree_cost(tree, by_id.get(tree.feed), traffic)) for tree in by_id.values()]


def measure_shards(tree: Tree, trees: Iterable[Tree], recent: Recent, traffic: Traffic) -> Tree:
    """Return a tree with what recent events say of its predicates, if it evaluates any.

    The trees that it feeds are among `trees`: each of them folds the shards straight into its own slices.

    `choose_shards` shows an example.
    """
    if tree.feed != EVENTS or tree.windows.rows or not any(measure.where for measure in tree.measures):
        return tree
    fed = (other for other in trees if other.feed == tree.id and other.group_by == tree.group_by)
    folding = [*tree.techniques, *(measure for other in fed for measure in other.measures)]
    passing = recent.passing(tree, sorted({measure.where for measure in tree.measures}))
    return replace(tree, shards=count_shards(tree.measures, folding, passing, traffic.rate))


def count_shards(measures: Sequence[Measure], folding: Sequence[Measure], passing: Passing, rate: float) -> Shards:
    """Return the two ways to evaluate predicates in numbers: `measures` take events, `folding` ones take shards.

    Of 100 events a second, 80 pass x > 1, 40 of them x > 2 as well; they make 10 shards a second, 5 of which pass
    x > 2. With shards every event is taken once; separately it is taken 1.5 times on average.

    >>> both = [Measure("sum", ("x",), "x > 1"), Measure("sum", ("x",), "x > 2")]
    >>> passing = Passing(0.8, 0.1, {"x > 1": 0.8, "x > 2": 0.4}, {"x > 1": 0.1, "x > 2": 0.05})
    >>> shards = count_shards(both, both, passing, 100.0)
    >>> round(shards.alpha, 3), round(shards.beta, 3), round(shards.together, 3), round(shards.separately, 3)
    (1.5, 1.5, 95.0, 120.0)
    """
    components = len({(measure.component, measure.arguments) for measure in measures})
    events = sum(passing.events_of[measure.where] for measure in measures)
    shards = sum(passing.shards_of[measure.where] for measure in folding)
    return Shards(
        len({measure.where for measure in measures} - {""}),
        components,
        passing.events * rate,
        _mean(events, components * passing.events),
        passing.shards * rate,
        _mean(shards, components * passing.shards),
    )


def _mean(total: float, count: float) -> float:
    return total / count if count else 0.0
