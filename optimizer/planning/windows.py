"""From windows to a plan, by a strategy of one's choice: `optimize`, and what planning a stream shares with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from optimizer.cost.omega import Load, least_omega
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Costs, Plan, Traffic, Tree
from optimizer.plan.prices import Prices
from optimizer.planning.choices import AUTO, STRATEGY, TECHNIQUE, find_strategy
from optimizer.planning.draft_group import Group, build_trees, cost_model, draft_group, shared_trees, stream_seconds
from optimizer.planning.recent import Recent
from optimizer.planning.roll_up import invent_groupings, roll_up_groupings
from optimizer.strategies.contract.problem import DEFAULT_OPTIONS, Problem, Rows, SearchOptions, Watch, make_problem
from optimizer.strategies.contract.strategy import Card, Draft, SingleWindows
from optimizer.strategies.contract.units import CostModel
from optimizer.windows.window import BoolArray, Ids, IntArray, Window, WindowSet


def no_share_cost(rows: Rows, model: CostModel, shares: Sequence[float]) -> float:
    """Return the operations per tick and key when every query has a tree of its own.

    `shares` of the events pass a measure's predicate. Two windows (16, 4) cost 1.2 for the events and 0.25 * 4 for the
    answers each, with panes.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> rows = make_problem(WindowSet.of([Window(16, 4), Window(16, 4)]))
    >>> no_share_cost(rows, CostModel(1.2, (("panes",),)), [1.0])
    4.4
    """
    problem = rows.problem
    rates = problem.class_rates[rows.class_of]
    total = 0.0
    for measure, (is_asking, share) in enumerate(zip(rows.needs(), shares, strict=True)):
        ranges, slides = rows.windows.range[is_asking], rows.windows.slide[is_asking]
        omegas = model.least_omegas(measure, SingleWindows(ranges, slides), rates[is_asking])
        fed = model.currency.root_feed(share * model.rate, rates[is_asking], np.ones(len(ranges)))
        total += float((fed + model.finals(rates[is_asking], omegas)).sum())
    return total


def shared_cost(problem: Problem, model: CostModel, shares: Sequence[float]) -> float:
    """Return the operations per tick and key of one tree for all queries; equal windows count once.

    >>> from optimizer.strategies.contract.problem import make_problem
    >>> from optimizer.windows.window import Window
    >>> rows = make_problem(WindowSet.of([Window(16, 4), Window(16, 4)]))
    >>> shared_cost(rows.problem, CostModel(1.2, (("panes",),)), [1.0])
    2.2
    """
    windows = problem.windows
    rate = float(problem.space.rate(problem.everything))
    total = 0.0
    for techniques, is_asking, share in zip(model.techniques, problem.asking, shares, strict=True):
        asking = windows if is_asking is None else windows.take(is_asking)
        asking = asking.take(_first_of_equals(asking))
        load = Load.of_columns(asking.range, asking.slide)
        least = least_omega(techniques, load, rate, model.currency.final)
        fed = model.currency.root_feed(share * model.rate, np.array([rate]), np.ones(1))
        total += float((fed + model.finals(np.array([rate]), np.array([least])))[0])
    return total


def _first_of_equals(windows: WindowSet) -> BoolArray:
    """Mark the windows that differ from the one before: equal ones are neighbours."""
    columns = np.stack([windows.range, windows.slide, windows.offset])
    return np.concatenate([[True], (columns[:, 1:] != columns[:, :-1]).any(axis=0)])


Columns = Sequence[npt.ArrayLike]


def optimize(
    windows: Sequence[Window] | Columns,
    rate: float,
    strategy: str = STRATEGY,
    technique: str = TECHNIQUE,
    watch: Watch | None = None,
    prices: Prices | None = None,
    options: SearchOptions = DEFAULT_OPTIONS,
) -> Plan:
    """Plan windows, given as a list or as arrays of ranges, slides and offsets; `rate` is in events per tick.

    >>> plan = optimize([Window(16, 4), Window(10, 5), Window(8, 4)], 1.2, "weave_share", "panes")
    >>> [list(tree.queries) for tree in plan.trees], round(plan.cost, 3)
    ([[0, 2], [1]], 4.3)
    >>> {name: round(cost, 3) for name, cost in plan.baselines.items()}
    {'no_share': 5.5, 'shared': 4.4}
    """
    card = find_strategy(strategy)
    traffic = Traffic(require_positive(rate, "rate"))
    groups = [Group(make_problem(part, card.per_query, options), Ids(at), ()) for part, at in _by_clock(windows)]
    return plan_groups("", groups, card, technique, traffic, watch or Watch(), prices=prices)


def plan_groups(
    stream: str,
    groups: Sequence[Group],
    card: Card,
    technique: str,
    traffic: Traffic,
    watch: Watch,
    recent: Recent | None = None,
    prices: Prices | None = None,
) -> Plan:
    """Plan every group on its own, and put the trees into one plan.

    >>> from optimizer.strategies import STRATEGIES
    >>> windows = {"a": Window(8, 4), "b": Window(6, 3)}
    >>> groups = [Group(make_problem(WindowSet.of([window])), (name,), ()) for name, window in windows.items()]
    >>> plan = plan_groups("s", groups, STRATEGIES["shared"], "auto", Traffic(1.2), Watch())
    >>> [(tree.id, tree.queries) for tree in plan.trees]
    [('t1', ('b',)), ('t2', ('a',))]
    """

    def plan_with(name: str) -> Plan:
        drafts = [(group, draft_group(group, card, name, traffic, watch, recent, prices)) for group in groups]
        return plan_drafts(stream, card.name, drafts, name, traffic, recent, prices)

    if prices is None or technique != AUTO:
        return plan_with(technique)
    # Omega counts operations alone; what a slice or an answer costs beside them is in the seconds of the whole plan
    return min((plan_with(name) for name in (TECHNIQUE, AUTO)), key=lambda plan: plan.costs.seconds or math.inf)


def plan_drafts(
    stream: str,
    strategy: str,
    drafts: Sequence[tuple[Group, Draft]],
    technique: str,
    traffic: Traffic,
    recent: Recent | None = None,
    prices: Prices | None = None,
) -> Plan:
    """Make a plan of drafts: trees built and numbered, costs added up, and the baselines beside them.

    >>> one_tree = Draft(np.array([0, 0]), (-1,))
    >>> group = Group(make_problem(WindowSet.of([Window(8, 4), Window(6, 3)])), ("a", "b"), ())
    >>> plan_drafts("s", "by_hand", [(group, one_tree)], "panes", Traffic(1.2)).trees[0].queries
    ('a', 'b')
    """
    trees: list[Tree] = []
    one_each: list[Tree] = []
    no_share, shared = 0.0, 0.0
    for number, (group, draft) in enumerate(drafts):
        model = cost_model(group, technique, traffic)
        trees += _prefix_ids(build_trees(group, draft, technique, traffic, recent, prices), f"{number}.")
        if prices:
            one_each += _prefix_ids(shared_trees(group, technique, traffic, recent, prices), f"{number}.")
        rows = group.rows.windows.rows
        scale = traffic.ticks_per_second(rows) * traffic.keys_of(group.group_by, rows)
        shares = [recent.share(m.where) if recent and m.where else 1.0 for m in group.rows.problem.measures]
        no_share += scale * no_share_cost(group.rows, model, shares)
        shared += scale * shared_cost(group.rows.problem, model, shares)
    if recent:
        rolled = roll_up_groupings(trees, recent, traffic)
        trees, traffic = invent_groupings(rolled, recent, traffic, partial(_plan_cost, prices))
    numbered = _number_trees(trees)
    exact = all(group.rows.problem.space.exact for group, _ in drafts)
    seconds = stream_seconds(numbered, traffic, prices) if prices else None
    seconds_shared = stream_seconds(one_each, traffic, prices) if prices else None
    costs = Costs(sum(t.cost for t in numbered), no_share, shared, seconds, seconds_shared)
    return Plan(stream, strategy, traffic, numbered, costs, exact=exact)


def _plan_cost(prices: Prices | None, trees: Sequence[Tree], traffic: Traffic) -> float:
    return stream_seconds(trees, traffic, prices) if prices else sum(tree.cost for tree in trees)


def require_positive(value: float, name: str) -> float:
    """Return a rate or a number of keys; refuse one that makes no sense.

    >>> require_positive(3, "rate")
    3.0
    >>> require_positive(0, "rate")
    Traceback (most recent call last):
    optimizer.errors.HeddleError: rate 0 makes no sense; give a number above 0
    """
    if not (math.isfinite(value) and value > 0):
        raise HeddleError(f"{name} {value} makes no sense; give a number above 0")
    return float(value)


def _by_clock(windows: Sequence[Window] | Columns) -> list[tuple[WindowSet, IntArray]]:
    """Return the windows as columns with their positions, those in ticks before those in rows."""
    if not len(windows):
        raise HeddleError("there are no windows to plan; give at least one")
    if isinstance(windows[0], Window):
        listed = [w for w in windows if isinstance(w, Window)]
        whole, rows = WindowSet.of(listed), np.array([w.rows for w in listed])
    else:
        whole, rows = _from_arrays(windows), None
    _check(whole)
    if rows is None or not rows.any():
        return [(whole, np.arange(len(whole)))]
    parts = [(np.flatnonzero(rows == clock), clock) for clock in (False, True)]
    return [(_with_clock(whole.take(index), clock), index) for index, clock in parts if len(index)]


def _from_arrays(columns: Sequence[Any]) -> WindowSet:
    ranges, slides, *rest = (np.asarray(column, dtype=np.int64) for column in columns)
    return WindowSet(ranges, slides, rest[0] if rest else np.zeros_like(slides))


def _with_clock(windows: WindowSet, rows: bool) -> WindowSet:
    return WindowSet(windows.range, windows.slide, windows.offset, rows)


def _check(windows: WindowSet) -> None:
    wrong = np.flatnonzero((windows.slide <= 0) | (windows.range < windows.slide))
    if len(wrong):
        window = windows[int(wrong[0])]
        raise HeddleError(f"{window}: a slide is at least 1 and at most the range; change one of them")


def _prefix_ids(trees: list[Tree], prefix: str) -> list[Tree]:
    """Make local ids different from those of other groups."""
    return [
        replace(tree, id=prefix + tree.id, feed=tree.feed if tree.feed == EVENTS else prefix + tree.feed)
        for tree in trees
    ]


def _number_trees(trees: list[Tree]) -> tuple[Tree, ...]:
    """Number the trees in an order that only depends on what they are, feeders first."""
    by_id = {tree.id: tree for tree in trees}

    def depth(tree: Tree) -> int:
        return 0 if tree.feed == EVENTS else 1 + depth(by_id[tree.feed])

    def place(tree: Tree) -> tuple[Any, ...]:
        return tree.group_by, tree.windows.rows, depth(tree), tree.windows[0], tuple(tree.queries[:1])

    ordered = sorted(trees, key=place)
    names = {tree.id: f"t{number}" for number, tree in enumerate(ordered, 1)}
    return tuple(replace(tree, id=names[tree.id], feed=names.get(tree.feed, EVENTS)) for tree in ordered)
