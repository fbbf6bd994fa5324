"""What a picture of a plan shows: one box per tree, with its queries, slides and ranges in few words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.plan.definition import EVENTS, Plan, Tree
from optimizer.plan.explain import cost_text, counted, length

MOST = 12  # trees of one level that get a box of their own
SLIDES = 7  # slides that are named


@dataclass(frozen=True)
class Box:
    """A tree, or several that are summed up."""

    id: str
    depth: int
    feed: str
    queries: int
    title: str
    lines: tuple[str, ...]
    share: float  # of the plan's cost


def boxes_of(plan: Plan) -> list[Box]:
    """The boxes of a plan, level by level, the dearest trees first; a level's many cheap trees are one box."""
    levels: dict[int, list[Tree]] = defaultdict(list)
    for tree in plan.trees:
        levels[depth(plan, tree)].append(tree)
    feeders = {tree.feed for tree in plan.trees}
    boxes = []
    for level, trees in sorted(levels.items()):
        ranked = sorted(trees, key=lambda tree: (tree.id not in feeders, -tree.cost))
        boxes += [_box(plan, tree, level) for tree in ranked[:MOST]]
        if len(ranked) > MOST:
            boxes.append(_rest(plan, ranked[MOST:], level))
    return boxes


def depth(plan: Plan, tree: Tree) -> int:
    """How many trees stand between a tree and the events."""
    level = 0
    while tree.feed != EVENTS:
        tree, level = plan.tree(tree.feed), level + 1
    return level


def _box(plan: Plan, tree: Tree, level: int) -> Box:
    queries = counted(len(tree.queries)) if len(tree.queries) else "answers no query"
    keys = f", by {', '.join(tree.group_by)}" if tree.group_by else ""
    answers = [_ranges(plan, [tree]), cut_text(tree.technique, 50)] if len(tree.queries) else []
    if tree.feed != EVENTS and plan.tree(tree.feed).group_by != tree.group_by:
        answers.append(f"rolled up from {tree.feed}")
    if tree.shards:
        ways = "in shards" if tree.shards.chosen else "separately"
        answers.append(f"{tree.shards.predicates} predicates {ways}")
    lines = [_slides(plan, [tree]), *answers, f"{_rate(plan, tree)}, cost {cost_text(tree.cost)}"]
    return Box(
        tree.id, level, tree.feed, len(tree.queries), f"{tree.id}: {queries}{keys}", tuple(lines), _share(plan, [tree])
    )


def _rest(plan: Plan, trees: Sequence[Tree], level: int) -> Box:
    queries = sum(len(tree.queries) for tree in trees)
    lines = (_slides(plan, trees), _ranges(plan, trees), f"cost {cost_text(sum(tree.cost for tree in trees))} together")
    title = f"{len(trees):,} trees more: {counted(queries)}"
    return Box(f"more{level}", level, trees[0].feed, queries, title, lines, _share(plan, trees))


def _slides(plan: Plan, trees: Sequence[Tree]) -> str:
    rows = trees[0].windows.rows
    slides = np.unique(np.concatenate([tree.windows.slide for tree in trees])).tolist()
    texts = ", ".join(length(plan, slide, rows) for slide in slides[:SLIDES])
    return cut_text(f"slides {texts}", 48) + (f" ... ({len(slides)})" if len(slides) > SLIDES else "")


def _ranges(plan: Plan, trees: Sequence[Tree]) -> str:
    rows = trees[0].windows.rows
    shortest = min(int(tree.windows.range.min()) for tree in trees)
    longest = max(int(tree.windows.range.max()) for tree in trees)
    text = length(plan, shortest, rows)
    return f"range {text}" if shortest == longest else f"ranges {text} to {length(plan, longest, rows)}"


def _rate(plan: Plan, tree: Tree) -> str:
    if tree.windows.rows:
        return f"{float(tree.edge_rate):.4g} edges/row"
    unit = "tick" if plan.traffic.ticks == 1 else "s"
    return f"{float(tree.edge_rate) * plan.traffic.ticks:.4g} edges/{unit}"


def _share(plan: Plan, trees: Sequence[Tree]) -> float:
    return sum(tree.cost for tree in trees) / plan.cost if plan.cost else 0.0


def cut_text(text: str, most: int) -> str:
    """Return as much of a text as fits into so many characters.

    >>> cut_text("slides 5 s, 10 s", 11)
    'slides 5...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."
