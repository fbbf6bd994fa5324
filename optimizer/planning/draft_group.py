"""One group of queries: searched by a strategy, and assembled into the trees of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from optimizer.cost.omega import Load, cheapest_technique
from optimizer.cost.tree_cost import RAW
from optimizer.plan.definition import EVENTS, Demand, Measure, Traffic, Tree, tree_cost
from optimizer.plan.prices import Prices, count_operations
from optimizer.planning.choices import STRATEGY, techniques_for
from optimizer.planning.recent import Recent, choose_shards
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import Problem, Rows, Watch
from optimizer.strategies.contract.strategy import Card, Draft
from optimizer.strategies.contract.units import CostModel
from optimizer.windows.edge_space import rate_of_edges
from optimizer.windows.edges import Edges
from optimizer.windows.window import BoolArray, Ids, IntArray, WindowSet

BY_RULE = ("no_share", "shared", "random")  # strategies that do not search
ALSO_TRIED = ("weave_share", "tri_weave", "factor_windows")  # by the default strategy, where prices tell plans apart
FEW_WINDOWS = 200  # up to which it tries them
FEW_TREES = 64  # below it one pass over the labels per tree is quicker than sorting them


@dataclass(frozen=True, eq=False)
class Group:
    """Queries that may share trees: they have one clock and the same group-by columns."""

    rows: Rows
    ids: Sequence[str] | Ids
    group_by: tuple[str, ...]


def cost_model(group: Group, technique: str, traffic: Traffic, prices: Prices | None = None) -> CostModel:
    """Return the cost model of a group, per tick of its clock and per key: in operations, or in a machine's seconds.

    A stream of 100 events a second with 4 active keys brings each key 25 events a second.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> group = Group(make_problem(WindowSet.of([Window(16, 4), Window(10, 5)])), ("a", "b"), ("key",))
    >>> cost_model(group, "two_stacks_block", Traffic(rate=100.0, keys=4.0))
    CostModel(rate=25.0, techniques=(('two_stacks_block',),))
    """
    return _model(group, group.rows.problem, technique, traffic, prices)


def build_trees(
    group: Group,
    draft: Draft,
    technique: str,
    traffic: Traffic,
    recent: Recent | None = None,
    prices: Prices | None = None,
) -> list[Tree]:
    """Build the trees of a draft; where there are recent events, with the cheaper way to evaluate predicates.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> group = Group(make_problem(WindowSet.of([Window(16, 4), Window(10, 5)])), ("a", "b"), ())
    >>> apart = Draft(np.array([1, 0]), (RAW, RAW))  # a tree for each
    >>> [(tree.id, tree.queries, tree.feed, tree.cost) for tree in build_trees(group, apart, "panes", Traffic(1.2))]
    [('0', ('a',), 'events', 2.2), ('1', ('b',), 'events', 1.6)]
    """
    trees = assemble(group, draft, cost_model(group, technique, traffic, prices), traffic)
    return choose_shards(trees, recent, traffic) if recent else trees


def draft_group(
    group: Group,
    card: Card,
    technique: str,
    traffic: Traffic,
    watch: Watch,
    recent: Recent | None = None,
    prices: Prices | None = None,
) -> Draft:
    """Return the cheapest draft of the trees of a group: a strategy's own, or one of the few that are tried beside it.

    >>> from optimizer.strategies import STRATEGIES
    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> group = Group(make_problem(WindowSet.of([Window(16, 4), Window(8, 4)])), ("a", "b"), ())
    >>> draft_group(group, STRATEGIES["shared"], "auto", Traffic(1.2), Watch()).labels.tolist()
    [0, 0]
    """
    drafts = _candidates(group, card, technique, traffic, watch, recent, prices)
    if len(drafts) == 1:
        return drafts[0]

    def cost(draft: Draft) -> float:
        trees = build_trees(group, draft, technique, traffic, recent, prices)
        if prices:
            return stream_seconds(trees, traffic, prices)
        return sum(tree.cost for tree in trees)

    return min(drafts, key=cost)


def _candidates(
    group: Group,
    card: Card,
    technique: str,
    traffic: Traffic,
    watch: Watch,
    recent: Recent | None,
    prices: Prices | None,
) -> list[Draft]:
    """Return the strategy's draft of a group, and others that may be cheaper once their trees are built.

    With predicates and recent events the strategy drafts twice: as if each measure were fed by itself, and as if one
    feed served all predicates, as it does with shards.
    """
    problem, model = group.rows.problem, cost_model(group, technique, traffic, prices)
    drafts = [card.draft(problem, model, watch)]
    common = _without_predicates(problem)
    if recent and len(common.measures) < len(problem.measures):  # else it would be the same search again
        drafts.append(card.draft(common, _model(group, common, technique, traffic, prices), watch))
    if prices and card.name not in BY_RULE:
        drafts.append(one_tree(problem))  # what a search cannot see, its levels, the prices can
    if prices and card.name == STRATEGY and len(problem.windows) <= FEW_WINDOWS:
        drafts += [STRATEGIES[name].draft(problem, model, watch) for name in ALSO_TRIED if not watch.stopped]
    return drafts


def one_tree(problem: Problem) -> Draft:
    """Return the draft with one tree for all windows.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> one_tree(make_problem(WindowSet.of([Window(16, 4), Window(10, 5)])).problem).labels.tolist()
    [0, 0]
    """
    return Draft(np.zeros(len(problem.windows), dtype=np.int64), (RAW,), by_class=True)


def stream_seconds(trees: Sequence[Tree], traffic: Traffic, prices: Prices) -> float:
    """Return the CPU seconds that trees take per second of the stream, in batches as the prices' schedule has them.

    >>> from optimizer.plan.prices import Prices
    >>> stream_seconds([], Traffic(1.2), Prices({"batch": 3.0})) * 300  # nothing but a batch every 300 seconds
    3.0
    """
    return prices.seconds(count_operations(trees, traffic, prices.schedule), batches=1 / prices.schedule.batch)


def shared_trees(
    group: Group, technique: str, traffic: Traffic, recent: Recent | None, prices: Prices | None
) -> list[Tree]:
    """Return the plan of a group as one tree.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> group = Group(make_problem(WindowSet.of([Window(16, 4), Window(8, 4)])), ("a", "b"), ())
    >>> [tree.queries for tree in shared_trees(group, "auto", Traffic(1.2), recent=None, prices=None)]
    [('a', 'b')]
    """
    return build_trees(group, one_tree(group.rows.problem), technique, traffic, recent, prices)


def _model(group: Group, problem: Problem, technique: str, traffic: Traffic, prices: Prices | None = None) -> CostModel:
    rows = group.rows.windows.rows
    techniques = techniques_for(technique, problem.measures)
    rate = traffic.events_per_tick(rows) / traffic.keys_of(group.group_by, rows)
    if prices is None:
        return CostModel(rate, techniques)
    return CostModel(rate, techniques, prices.currency(traffic, group.group_by, rows))


def _without_predicates(problem: Problem) -> Problem:
    """Return the problem without predicates: every window asks for its measures over all events."""
    windows_of: dict[Measure, BoolArray | None] = {}
    for measure, windows in zip(problem.measures, problem.asking, strict=True):
        base = replace(measure, where="")
        before = windows_of.get(base, np.zeros(len(problem.windows), dtype=np.bool_))
        windows_of[base] = None if before is None or windows is None else before | windows
    return replace(problem, measures=tuple(windows_of), asking=tuple(windows_of.values()))


def assemble(group: Group, draft: Draft, model: CostModel, traffic: Traffic) -> list[Tree]:
    """Fill in the windows, techniques, measures and costs of a draft's trees; feeds are named by local ids.

    The trees come in one order, whatever the order of the queries.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> group = Group(make_problem(WindowSet.of([Window(16, 4), Window(8, 4)])), ("a", "b"), ())
    >>> [tree] = assemble(group, Draft(np.array([0, 0]), (RAW,)), CostModel(1.2, (("panes", "daba"),)), Traffic(1.2))
    >>> tree.queries, tree.technique, float(tree.edge_rate), tree.cost
    (('a', 'b'), 'panes', 0.25, 2.7)
    """
    positions, members = _positions_by_tree(group, draft), draft.members()
    queries_per_window = np.bincount(group.rows.window_of, minlength=len(group.rows.problem.windows))
    trees = [
        _answering_tree(group, model, members[t], positions[t], queries_per_window) for t in range(draft.answering)
    ]
    space, masks = group.rows.problem.space, draft.free_masks
    rates = [space.rate(mask) for mask in masks] if masks else [rate_of_edges(edges) for edges in draft.free]
    trees += [_feeding_tree(edges, rate, group) for edges, rate in zip(draft.free, rates, strict=True)]
    named = [replace(tree, id=str(t), feed=_feed_name(draft.feeds[t])) for t, tree in enumerate(trees)]
    by_id = _lend_up(named)
    return [replace(tree, cost=tree_cost(tree, by_id.get(tree.feed), traffic)) for tree in by_id.values()]


def _answering_tree(
    group: Group, model: CostModel, members: IntArray, positions: IntArray, queries_per_window: IntArray
) -> Tree:
    problem, queries = group.rows.problem, _queries_at(group, positions)
    windows = problem.windows.take(members)
    mask = 0
    for number in np.unique(problem.class_of[members]).tolist():
        mask |= 1 << number
    rate = problem.space.rate(mask)
    demands = [_demand(problem, model, measure, windows, members, rate) for measure in range(len(problem.measures))]
    with_windows = tuple(demand for demand in demands if len(demand.windows))
    query_counts = queries_per_window[members].tolist() if len(queries) > len(members) else ()
    slicing = problem.options.slicing
    return Tree(
        "",
        queries,
        windows,
        rate,
        with_windows,
        EVENTS,
        group.group_by,
        0.0,
        queries_per_window=tuple(query_counts),
        slicing=slicing,
    )


def _demand(
    problem: Problem, model: CostModel, measure: int, windows: WindowSet, members: IntArray, rate: Fraction
) -> Demand:
    is_asking = problem.asking[measure]
    asking = windows if is_asking is None or is_asking[members].all() else windows.take(is_asking[members])
    names = model.techniques[measure]
    if len(names) == 1 or not len(asking):
        return Demand(problem.measures[measure], names[0], asking)
    load = Load.of_columns(asking.range, asking.slide)
    return Demand(problem.measures[measure], cheapest_technique(names, load, rate, model.currency.final), asking)


def _feeding_tree(edges: Edges, rate: Fraction, group: Group) -> Tree:
    """Return a tree that only feeds others: one tumbling window per progression stands for its slices."""
    columns = np.array([(period, period, residue) for period, residue in edges], dtype=np.int64)
    windows = WindowSet(columns[:, 0], columns[:, 1], columns[:, 2], group.rows.windows.rows)
    slicing = group.rows.problem.options.slicing
    return Tree("", (), windows, rate, (), EVENTS, group.group_by, 0.0, slicing=slicing)


def _lend_up(trees: list[Tree]) -> dict[str, Tree]:
    """Let every tree hold, besides its own measures, those that the trees it feeds need."""
    by_id = {tree.id: tree for tree in trees}
    for tree in trees:
        needed = set(tree.measures)
        while tree.feed != EVENTS:
            by_id[tree.feed] = tree = lend_measures(by_id[tree.feed], needed)
    return by_id


def lend_measures(feeder: Tree, needed: Iterable[Measure]) -> Tree:
    """Return the feeder with the measures that the trees it feeds need; for these it answers no window.

    >>> from optimizer.windows.window import Window
    >>> feeder = Tree("t1", (), WindowSet.of([Window(4, 4)]), Fraction(1, 4), (), EVENTS, (), 0.0)
    >>> [str(measure) for measure in lend_measures(feeder, [Measure("sum", ("x",)), Measure("max", ("x",))]).measures]
    ['max(x)', 'sum(x)']
    """
    missing = sorted(set(needed) - set(feeder.measures))
    return replace(feeder, demands=feeder.demands + tuple(Demand(m, "", WindowSet.of(())) for m in missing))


def _feed_name(feed: int) -> str:
    return EVENTS if feed == RAW else str(feed)


def _positions_by_tree(group: Group, draft: Draft) -> list[IntArray]:
    """Return the places of every tree's queries, in the order of the queries."""
    labels = _row_labels(group.rows, draft)
    if draft.answering < FEW_TREES:
        return [np.flatnonzero(labels == tree) for tree in range(draft.answering)]
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, draft.answering)))


def _queries_at(group: Group, places: IntArray) -> Sequence[str | int]:
    ids = group.ids
    return Ids(ids.positions[places]) if isinstance(ids, Ids) else tuple(ids[place] for place in places.tolist())


def _row_labels(rows: Rows, draft: Draft) -> IntArray:
    if not draft.by_class:
        return draft.labels[rows.window_of]
    tree_of = np.zeros(len(rows.problem.classes), dtype=np.int64)
    tree_of[rows.problem.class_of] = draft.labels
    return tree_of[rows.class_of]
