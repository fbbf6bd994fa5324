"""A catalog that changes while a run goes on: queries join and leave between two batches, without a restart.

The change is woven into the plan in force by Incremental WeaveShare, and the slice manager of on-the-fly sharing
(Krishnamurthy et al., SIGMOD 2006, Algorithm 1) lays out where the next slices end. The queries that stay keep their
slices; what a new query needs of the past is folded from the events that are still there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jobs.measure.machine_prices import load_prices
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.sql.durations import print_length
from optimizer.errors import HeddleError
from optimizer.plan.definition import Plan
from optimizer.plan.explain import counted
from optimizer.planning.reweave import reweave
from optimizer.windows.slice_manager import SliceManager

Stamp = tuple[tuple[str, int, int], ...]  # name, time of the last change and size of every file


@dataclass(frozen=True)
class Change:
    """The catalog as it is now, the plan that answers it, and which queries joined and left."""

    catalog: Catalog
    plan: Plan
    joined: tuple[str, ...]
    left: tuple[str, ...]


@dataclass
class CatalogFollower:
    """Looks at a catalog's folder before every batch; a mistake in it is told once, and the old queries go on."""

    folder: Path
    tell: Callable[[str], None]
    _stamp: Stamp = field(init=False)

    def __post_init__(self) -> None:
        self._stamp = _stamp(self.folder)

    def look(self, catalog: Catalog, plan: Plan, watermark: int) -> Change | None:
        """Return what has changed since the last look; None where the queries of the stream are the same."""
        now = _stamp(self.folder)
        if now == self._stamp:
            return None
        self._stamp = now
        try:
            return self._weave(catalog, load_catalog(self.folder), plan, watermark)
        except HeddleError as error:
            self.tell(f"the catalog has changed and cannot be followed, so its queries go on as they were: {error}")
            return None

    def _weave(self, before: Catalog, catalog: Catalog, plan: Plan, watermark: int) -> Change | None:
        if catalog.fingerprint(plan.stream) == plan.catalog_fingerprint:
            return None
        if catalog.streams[plan.stream] != before.streams[plan.stream]:
            raise HeddleError(f"stream {plan.stream} is defined anew; start the evaluation again")
        if not len(catalog.of_stream(plan.stream)):
            raise HeddleError(f"stream {plan.stream} has no query left; end the evaluation, or add one")
        rewoven = reweave(plan, catalog, prices=load_prices())
        old, new = _definitions(before, plan.stream), _definitions(catalog, plan.stream)
        joined = tuple(sorted(id for id in new if new[id] != old.get(id)))
        left = tuple(sorted(id for id in old if old[id] != new.get(id)))
        trees = counted(len(rewoven.plan.trees), "tree", "trees")
        self.tell(
            f"{_name_some(joined)} joined, {_name_some(left)} left; {trees}, "
            f"the next slice ends {_next_slice(rewoven.plan, watermark)}"
        )
        return Change(catalog, rewoven.plan, joined, left)


def next_edges(plan: Plan, watermark: int, count: int = 1) -> list[int]:
    """Return where the next slices of the plan's queries end after the watermark, by the slice manager.

    >>> from optimizer import Window, optimize
    >>> next_edges(optimize([Window(16, 4), Window(10, 5)], 1.2), watermark=20, count=5)
    [24, 25, 28, 30, 32]
    """
    manager = SliceManager(now=watermark)
    for tree in plan.trees:
        for window in tree.windows if tree.queries and not tree.windows.rows else ():
            manager.join(window)
    edges = (manager.next_edge() for _ in range(count))
    return [edge for edge in edges if edge is not None]


def _next_slice(plan: Plan, watermark: int) -> str:
    edges = next_edges(plan, watermark)
    return f"{print_length(edges[0] - watermark, False)} after the watermark" if edges else "with the next row"


def _definitions(catalog: Catalog, stream: str) -> dict[str, object]:
    return {query.id: query for query in catalog.of_stream(stream)}


def _name_some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "") if ids else "none"


def _stamp(folder: Path) -> Stamp:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    stats = [(path.name, path.stat()) for path in files]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
