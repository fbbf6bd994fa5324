"""Every query of a stream with its newest answers: what it asks, its tree, its share of the cost, its last audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan
from optimizer.plan.explain import length
from optimizer.plan.prices import Prices, estimate_milliseconds, tree_shares
from optimizer.windows.window import BEGINNING, Window
from plugins.heddle_page.read.answers import Answers, Series, spark_points
from plugins.heddle_page.read.batches import AuditRecord, instant

SPARK = (84, 20)  # pixels of a small chart
LARGE = (920, 260)
UNSHARED = "plain Spark"  # where queries are that no tree answers


@dataclass(frozen=True)
class Spark:
    """A small chart of one key."""

    key: str
    points: str  # of an SVG polyline
    newest: str


@dataclass(frozen=True)
class QueryRow:
    """A query of the user's, be it of one aggregate or of several."""

    id: str
    asks: str
    where: str
    by: str
    range: str
    slide: str
    tree: str
    share: float  # of the plan's cost
    milliseconds: float | None  # per 1,000 events
    owner: str
    tags: tuple[str, ...]
    until: datetime | None
    keys: int
    sparks: tuple[Spark, ...]
    audit: AuditRecord | None


@dataclass(frozen=True)
class OwnerRow:
    """What the queries of an owner cost together."""

    owner: str
    queries: int
    share: float
    milliseconds: float | None


def query_rows(
    catalog: Catalog,
    stream: str,
    plan: Plan | None,
    prices: Prices | None,
    answers: Mapping[str, Answers],
    audits: Mapping[str, AuditRecord],
    until: int = BEGINNING,
) -> list[QueryRow]:
    """Return the queries of a stream by id; a tree's cost is divided evenly among the queries it answers.

    Every window that ends up to `until` is published.
    """
    homes = {str(query): tree for tree in (plan.trees if plan else ()) for query in tree.queries}
    shares = tree_shares(plan, prices) if plan else {}
    whole = estimate_milliseconds(plan, prices) if plan else None
    rows = []
    for id, queries in sorted(_members(catalog, stream).items()):
        trees = [homes[query] for query in queries if query in homes]
        share = sum(shares.get(tree.id, 0.0) / max(len(tree.queries), 1) for tree in trees)
        named = ", ".join(dict.fromkeys(tree.id for tree in trees)) or (UNSHARED if plan else "")
        cost = share, None if whole is None else share * whole
        row = _query_row(catalog, id, queries, plan, named, cost, answers.get(id), audits.get(id))
        rows.append(replace(row, until=fresh_to(catalog.query(queries[0]).window, until, row.until)))
    return rows


def fresh_to(window: Window, until: int, newest: datetime | None) -> datetime | None:
    """Return when the last window ends that is published, be it with rows or without any; of rows none is known.

    >>> fresh_to(Window(60_000_000, 25_000_000), 100_000_000, None)
    datetime.datetime(1970, 1, 1, 0, 1, 25, tzinfo=datetime.timezone.utc)
    """
    if window.rows or until == BEGINNING:
        return newest
    end = instant(until - (until - window.range - window.offset) % window.slide)
    return max(end, newest) if end and newest else end or newest


def _members(catalog: Catalog, stream: str) -> dict[str, list[str]]:
    """Return the queries of every statement of a stream: one for each of its aggregates."""
    table = catalog.of_stream(stream)
    members: dict[str, list[str]] = {}
    for query, statement in zip(table.ids.to_pylist(), table.statements.to_pylist(), strict=True):
        members.setdefault(statement, []).append(query)
    return members


def _query_row(
    catalog: Catalog,
    id: str,
    queries: Sequence[str],
    plan: Plan | None,
    tree: str,
    cost: tuple[float, float | None],
    newest: Answers | None,
    audit: AuditRecord | None,
) -> QueryRow:
    """Return the row of a statement, with its share of the cost and that in milliseconds."""
    first, label = catalog.query(queries[0]), catalog.labels.get(id)
    range_, slide = (
        length(plan, ticks, first.window.rows) if plan else str(ticks)
        for ticks in (first.window.range, first.window.slide)
    )
    return QueryRow(
        id,
        ", ".join(_asks(catalog, query) for query in queries),
        first.where,
        ", ".join(first.group_by),
        range_,
        slide,
        tree,
        *cost,
        label.owner if label else "",
        label.tags if label else (),
        newest.until if newest else None,
        newest.keys if newest else 0,
        tuple(map(_spark, newest.series)) if newest else (),
        audit,
    )


def cost_by_owner(rows: Sequence[QueryRow]) -> list[OwnerRow]:
    """Return what every owner's queries cost, the dearest first; [] where no query says whose it is."""
    owners = dict.fromkeys(row.owner for row in rows)
    if not any(owners):
        return []
    owner_rows = []
    for owner in owners:
        own = [row for row in rows if row.owner == owner]
        times = [row.milliseconds for row in own if row.milliseconds is not None]
        owner_rows.append(OwnerRow(owner, len(own), sum(row.share for row in own), sum(times) if times else None))
    return sorted(owner_rows, key=lambda each: -each.share)


def number_text(value: float | None) -> str:
    """Return an answer as a person reads it.

    >>> number_text(1234567.0), number_text(23456.789), number_text(0.12345678), number_text(None)
    ('1,234,567', '23,457', '0.1235', 'null')
    """
    if value is None:
        return "null"
    is_whole = value == value and abs(value) < 1e15 and (value == int(value) or abs(value) >= 1000)
    return f"{value:,.0f}" if is_whole else f"{value:,.4g}"


def _asks(catalog: Catalog, id: str) -> str:
    query = catalog.query(id)
    return f"{query.aggregate}({', '.join(query.arguments)})"


def _spark(series: Series) -> Spark:
    points = spark_points(series.values, *SPARK)
    return Spark(series.key, " ".join(f"{x},{y}" for x, y in points), number_text(series.newest))
