"""Local search: move a unit to another tree or to one of its own, or merge two trees, while the cost falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optimizer.strategies.contract.pricing import EPSILON
from optimizer.strategies.contract.units import bits
from optimizer.strategies.contract.watch import Watch

Price = Callable[[int], float]


def refine(forest: Sequence[int], price: Price, watch: Watch, passes: int = 20) -> list[int]:
    """The forest after all moves that pay; never dearer than before."""
    trees = sorted(forest, key=_smallest)
    for _ in range(passes):
        before = sorted(trees)
        trees = _merge_pass(_move_pass(trees, price, watch), price, watch)
        if watch.stopped or sorted(trees) == before:
            break
    return trees


def _move_pass(trees: list[int], price: Price, watch: Watch) -> list[int]:
    for unit in sorted(bits(sum(trees))):
        if watch.stopped:
            break
        trees = _moved(trees, 1 << unit, price)
    return trees


def _moved(trees: list[int], unit: int, price: Price) -> list[int]:
    """The trees with the unit where it is cheapest; it stays where it is unless moving pays."""
    home = next(tree for tree in trees if tree & unit)
    rest = home & ~unit
    others = [tree for tree in trees if tree != home]
    stay = price(home)
    leave = price(rest) if rest else 0.0
    choices = [*others, 0] if rest else others
    extras = [leave + price(tree | unit) - (price(tree) if tree else 0.0) - stay for tree in choices]
    if not extras or min(extras) >= -EPSILON * stay:
        return trees
    target = choices[extras.index(min(extras))]
    moved = [tree for tree in others if tree != target] + [target | unit] + ([rest] if rest else [])
    return sorted(moved, key=_smallest)


def merge_best(forest: Sequence[int], price: Price, watch: Watch) -> list[int]:
    """Merge the two trees whose merge saves most, until none saves anything."""
    trees = sorted(forest, key=_smallest)
    while len(trees) > 1 and not watch.stopped:
        pairs = [(a, b) for place, a in enumerate(trees) for b in trees[place + 1 :]]
        gains = [price(a) + price(b) - price(a | b) for a, b in pairs]
        best = max(gains)
        scale = EPSILON * max(map(price, trees))
        if best <= scale:
            break
        a, b = pairs[next(place for place, gain in enumerate(gains) if gain >= best - scale)]
        trees = sorted([tree for tree in trees if tree not in (a, b)] + [a | b], key=_smallest)
    return trees


def _merge_pass(trees: list[int], price: Price, watch: Watch) -> list[int]:
    """Merge any two trees whose merge pays, the smallest first."""
    merged: list[int] = []
    for tree in trees:
        target = None if watch.stopped else _host(tree, merged, price)
        if target is None:
            merged.append(tree)
        else:
            merged[merged.index(target)] |= tree
    return sorted(merged, key=_smallest)


def _host(tree: int, hosts: list[int], price: Price) -> int | None:
    gains = [price(host) + price(tree) - price(host | tree) for host in hosts]
    best = max(gains, default=0.0)
    return hosts[gains.index(best)] if best > EPSILON * price(tree) else None


def _smallest(tree: int) -> int:
    return tree & -tree
