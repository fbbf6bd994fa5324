"""What a strategy is: its card, and the draft that it hands back.

What holds for every strategy: many classes are searched in bundles, and no plan is above the two plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.cost.omega import flat_fat_operations, snap_to_whole
from optimizer.cost.tree_cost import RAW
from optimizer.strategies.contract.problem import Problem, Watch
from optimizer.strategies.contract.units import EPSILON, CostModel, Pricing, Units, bits
from optimizer.windows.edge_space import rate_of_edges
from optimizer.windows.edges import Edges
from optimizer.windows.window import FloatArray, IntArray

MOST_CLASSES = 192  # that are searched one by one; more are bundled


@dataclass(frozen=True, eq=False)
class Draft:
    """Trees by number. Those that answer no query are numbered last, and given by their edges."""

    labels: IntArray  # the tree of every distinct window
    feeds: tuple[int, ...]  # per tree, the tree whose partials it folds, or RAW
    free: tuple[Edges, ...] = ()
    by_class: bool = False  # windows of a class are all in one tree
    free_masks: tuple[int, ...] = ()  # the classes whose edges the free trees have; () where they have others

    @classmethod
    def of_forest(
        cls,
        units: Units,
        forest: Sequence[int],
        feeds: Sequence[int] = (),
        free: Sequence[Edges] = (),
        free_masks: Sequence[int] = (),
    ) -> Draft:
        """Return the trees of a forest of unit masks; fed by the raw events unless said otherwise."""
        labels = units.labels(list(forest))
        by_class = units.unit_of is units.problem.class_of
        return cls(labels, tuple(feeds) or (RAW,) * len(forest), tuple(free), by_class, tuple(free_masks))

    @property
    def answering(self) -> int:
        """How many trees answer queries."""
        return len(self.feeds) - len(self.free)

    def members(self) -> list[IntArray]:
        """Return the windows of every tree that answers queries."""
        order = np.argsort(self.labels, kind="stable")
        return np.split(order, np.searchsorted(self.labels[order], np.arange(1, self.answering)))


@dataclass(frozen=True)
class Card:
    """A strategy: what it does, what it takes (n queries, c classes of equal edges, m trees), and who described it."""

    name: str
    full_name: str
    run: Search
    model: str  # the cost model it minimises: weave_share, tri_weave or cascade
    time: str
    paper: str
    per_query: bool = False  # equal windows are planned one by one
    plain: bool = False  # is what its name says, whatever it costs; others never end above no_share and shared
    in_bundles: bool = True  # many classes are searched in bundles

    def draft(self, problem: Problem, model: CostModel, watch: Watch) -> Draft:
        """Run the strategy; where it is not plain, the draft never costs more than no_share and shared do."""
        if self.plain:
            return self.run(problem, model, watch)
        if self.in_bundles:
            draft = search_in_bundles(self.run, problem, model, watch)
        else:
            draft = self.run(problem, model, watch)
        return cheapest_with_plain(draft, problem, model)


Search = Callable[[Problem, CostModel, Watch], Draft]


class ExactPricing(Pricing):
    """Prices by the edge rates that the plan will have, not by the searches' estimates of them."""

    def rate(self, mask: int) -> float:
        """Return the edge rate of a set of units, exact as far as it can be counted."""
        return self.rate_of_classes(self.units.edge_mask(mask))

    def rate_of_classes(self, mask: int) -> float:
        """Return the edge rate of a set of classes, exact as far as it can be counted."""
        return float(self.units.problem.space.rate(mask))


class SingleWindows:
    """Every window in a tree of its own, as the formulas of Omega see it."""

    def __init__(self, ranges: IntArray, slides: IntArray) -> None:
        self.longest = ranges.astype(np.float64)
        self.overlap = self.longest / slides
        self.queries = np.ones(len(ranges))

    def distinct_ranges(self) -> FloatArray:
        """Return one range per tree."""
        return self.queries

    def flat_fat_sums(self, rates: FloatArray) -> FloatArray:
        """Return FlatFAT's f of every window."""
        return flat_fat_operations(snap_to_whole(self.longest * rates))


def search_in_bundles(search: Search, problem: Problem, model: CostModel, watch: Watch) -> Draft:
    """Return what a strategy finds for the classes, or for bundles of them where they are many."""
    if len(problem.classes) <= MOST_CLASSES:
        return search(problem, model, watch)
    bundle_of = bundle_classes(problem)
    bundles, order = problem.bundle(bundle_of)
    draft = search(bundles, model, watch)
    labels = np.empty_like(draft.labels)
    labels[order] = draft.labels
    classes, everything = Units.classes(problem), bundles.everything
    masks = [
        classes.everything
        if mask == everything
        else classes.mask_of(np.flatnonzero(np.isin(bundle_of, list(bits(mask)))))
        for mask in draft.free_masks
    ]
    return Draft(labels, draft.feeds, draft.free, draft.by_class, tuple(masks))


def bundle_classes(problem: Problem) -> IntArray:
    """Number the bundle of every class: classes of one slide go together, and where slides are many, like slides.

    The classes that cost most stay alone.
    """
    rates = problem.class_rates
    queries = np.bincount(problem.class_of, minlength=len(rates))
    slides = np.array([edges[-1][0] for edges in problem.classes])
    distinct, slide_of = np.unique(slides, return_inverse=True)
    costs = np.bincount(slide_of, queries * rates)  # of a slide; the first queries of a tree make its edges
    single = np.sort(np.argsort(-costs, kind="stable")[: MOST_CLASSES - MOST_CLASSES // 4])
    bundle_of = np.full(len(distinct), -1, dtype=np.int64)
    bundle_of[single] = np.arange(len(single))
    others = np.flatnonzero(bundle_of < 0)
    if len(others):
        weights = np.cumsum(np.sqrt(costs[others]))
        places = (weights / weights[-1] * (MOST_CLASSES // 4)).astype(np.int64)
        bundle_of[others] = len(single) + np.unique(places, return_inverse=True)[1]
    bundles = bundle_of[slide_of]
    spare = MOST_CLASSES - int(bundles.max()) - 1
    return _single_out(bundles, queries * rates, spare)


def _single_out(bundle_of: IntArray, costs: FloatArray, spare: int) -> IntArray:
    """Give bundles of their own to the dearest classes that share one, as many as there are numbers to spare."""
    shared = np.flatnonzero(np.bincount(bundle_of)[bundle_of] > 1)
    dearest = shared[np.argsort(-costs[shared], kind="stable")[: max(0, spare)]]
    alone = bundle_of.copy()
    alone[dearest] = int(bundle_of.max()) + 1 + np.arange(len(dearest))
    return np.unique(alone, return_inverse=True)[1].astype(np.int64)


def cheapest_with_plain(draft: Draft, problem: Problem, model: CostModel) -> Draft:
    """Return the cheapest of a draft, every window in a tree of its own, and all windows in one tree."""
    one_tree = Draft(np.zeros(len(problem.windows), dtype=np.int64), (RAW,), by_class=True)
    pricing = ExactPricing(Units.classes(problem), model)
    costs = [
        exact_cost(draft, problem, model),
        pricing.tree(problem.everything),
        cost_of_single_windows(problem, model),
    ]
    if costs[0] <= min(costs[1:]) * (1 + EPSILON):
        return draft
    return one_tree if costs[1] <= costs[2] else Draft(np.arange(len(problem.windows)), (RAW,) * len(problem.windows))


def exact_cost(draft: Draft, problem: Problem, model: CostModel) -> float:
    """Return what a draft costs per tick and key by the rates that its plan will have."""
    units = Units.classes(problem) if draft.by_class else Units.windows(problem)
    return draft_cost(draft, ExactPricing(units, model))


def cost_of_single_windows(problem: Problem, model: CostModel) -> float:
    """Return what it costs when every distinct window has a tree of its own."""
    rates = problem.class_rates[problem.class_of]
    omegas, served = np.zeros(len(rates)), np.zeros(len(rates))
    for measure, asks in enumerate(problem.asking):
        asking = np.ones(len(rates), dtype=np.bool_) if asks is None else asks
        windows = problem.windows.take(asking)
        omegas[asking] += model.least_omegas(measure, SingleWindows(windows.range, windows.slide), rates[asking])
        served += asking
    return float((model.root_feed(rates, served) + model.finals(rates, omegas)).sum())


def draft_cost(draft: Draft, pricing: Pricing) -> float:
    """Return what a draft costs, whoever made it; the pricing's units are the ones it was made of."""
    units, model = pricing.units, pricing.model
    forest = forest_of(draft, units)
    rates = [pricing.rate(tree) for tree in forest]
    if draft.free_masks:
        rates += map(pricing.rate_of_classes, draft.free_masks)
    else:
        rates += [float(rate_of_edges(edges)) for edges in draft.free]
    own = [units.measures_of(tree) for tree in forest] + [0] * len(draft.free)
    counts = [measures.bit_count() for measures in carried_measures(own, draft.feeds)]
    fed = model.currency.feeds_of_forest(model.rate, rates, counts, draft.feeds)
    return fed + sum(map(pricing.finals, sorted(forest)))


def forest_of(draft: Draft, units: Units) -> list[int]:
    """Return the trees of a draft that answer queries, as masks of units."""
    trees = draft.labels[np.searchsorted(units.unit_of, np.arange(len(units)))]
    order = np.argsort(trees, kind="stable")
    members = np.split(order, np.searchsorted(trees[order], np.arange(1, draft.answering)))
    return [units.mask_of(part) for part in members]


def carried_measures(own: list[int], feeds: tuple[int, ...]) -> list[int]:
    """Return the measures that every tree holds, its own and what the trees it feeds need, as masks."""
    carried = list(own)
    for tree, measures in enumerate(own):
        while (tree := feeds[tree]) != RAW:
            carried[tree] |= measures
    return carried
