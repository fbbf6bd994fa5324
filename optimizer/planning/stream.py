"""From a catalog's stream to a plan: its queries grouped by clock and group-by columns, with their measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.table import QueryTable
from optimizer.plan.definition import Measure, Plan, Traffic
from optimizer.plan.measures import measures_of
from optimizer.plan.prices import Prices
from optimizer.planning.choices import STRATEGY, TECHNIQUE, find_strategy
from optimizer.planning.draft_group import Group
from optimizer.planning.recent import Recent
from optimizer.planning.windows import plan_groups, require_positive
from optimizer.strategies.contract.problem import DEFAULT_OPTIONS, SearchOptions, Watch, make_measures_problem
from optimizer.windows.window import PAIRS, BoolArray, IntArray, WindowSet

MICROSECONDS = 1_000_000
MOST_ENTRIES = 1 << 26  # values with their counts that a query may keep: about a gigabyte


def plan_stream(
    catalog: Catalog,
    stream: str,
    rate: float,
    strategy: str = STRATEGY,
    technique: str = TECHNIQUE,
    keys: float = 1.0,
    watch: Watch | None = None,
    recent: Recent | None = None,
    prices: Prices | None = None,
    options: SearchOptions = DEFAULT_OPTIONS,
) -> Plan:
    """Plan the queries of a stream at `rate` events per second; costs are operations per second.

    Recent events tell how many keys there are, and whether predicates are better evaluated together. A machine's prices
    make the strategy search for the fewest CPU seconds instead of the fewest operations.

    >>> from optimizer.catalog.model.query import Stream
    >>> from optimizer.catalog.model.table import Shape, TableBuilder
    >>> from optimizer.windows.window import Window
    >>> queries = TableBuilder()
    >>> for name, seconds in (("a", 60), ("b", 30)):
    ...     queries.add(name, name, Shape("s", "max", ("x",), "", (), name), Window(seconds * 10**6, 10 * 10**6))
    >>> catalog = Catalog({"s": Stream("s", "ts", 0)}, queries.table(), {})
    >>> [(tree.id, tree.queries, round(tree.cost, 3)) for tree in plan_stream(catalog, "s", rate=1000.0).trees]
    [('t1', ('a', 'b'), 1000.6)]
    """
    card = find_strategy(strategy)
    table = catalog.of_stream(stream)
    ids = table.ids.to_pylist()
    shared, unshared, reasons = _rows_to_weave(table, ids, rate, recent)
    groups = [_group(table, ids, rows, card.per_query, options) for rows in _parts(table, shared)]
    traffic = _traffic(groups, rate, keys, recent)
    plan = plan_groups(stream, groups, card, technique, traffic, watch or Watch(), recent, prices)
    return replace(
        plan,
        catalog_fingerprint=catalog.fingerprint(stream),
        unshared=tuple(ids[row] for row in unshared),
        reasons={ids[row]: reason for row, reason in reasons.items()},
    )


def _rows_to_weave(
    table: QueryTable, ids: Sequence[str], rate: float, recent: Recent | None
) -> tuple[IntArray, IntArray, dict[int, str]]:
    """Return the rows of queries that share slices, those that plain Spark answers, and why where a window decides it.

    Both are in the order of their ids.
    """
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    is_shared = np.array([AGGREGATES[shape.aggregate].shared for shape in table.shapes], dtype=np.bool_)[table.codes]
    reasons = queries_with_many_values(table, order[is_shared[order]], rate, recent)
    is_shared[np.array(sorted(reasons), np.int64)] = False
    return order[is_shared[order]], order[~is_shared[order]], reasons


def _traffic(groups: Sequence[Group], rate: float, keys: float, recent: Recent | None) -> Traffic:
    """Return what comes in. Keys are counted in recent events, unless the user has set how many there are."""
    traffic = Traffic(require_positive(rate, "rate"), require_positive(keys, "keys"), MICROSECONDS)
    if recent is None:
        return traffic
    if keys == 1.0:
        in_time = [group for group in groups if not group.rows.windows.rows]
        slides = [(group.group_by, int(group.rows.windows.slide.min())) for group in in_time]
        curves = {group.group_by: recent.active(group.group_by, rate) for group in groups}
        traffic = replace(traffic, groups=count_keys(slides, recent), curves=tuple(sorted(curves.items())))
    wheres = sorted({measure.where for group in groups for measure in group.rows.problem.measures} - {""})
    in_file = recent.file_events()
    return replace(
        traffic,
        shares=tuple((where, recent.share(where)) for where in wheres),
        files=rate / in_file if in_file else 0.0,
    )


def queries_with_many_values(table: QueryTable, rows: IntArray, rate: float, recent: Recent | None) -> dict[int, str]:
    """Return the rows of queries whose windows hold too many different values, each with the reason.

    Value counts keep every value of a slice once, with its count. Where values hardly repeat and a window is long, the
    state would hold about as many entries as the window has events. Windows in rows are kept all the same: plain Spark
    does not answer them.

    >>> from optimizer.catalog.model.table import Shape, TableBuilder
    >>> from optimizer.windows.window import Window
    >>> queries = TableBuilder()
    >>> for name, minutes in (("hour", 60), ("minute", 1)):
    ...     shape = Shape("s", "median", ("x",), "", (), name)
    ...     queries.add(name, name, shape, Window(minutes * 60 * 10**6, 60 * 10**6))
    >>> class NeverTheSame:
    ...     def entries(self, measure, group_by, slide):
    ...         return 1.0
    >>> queries_with_many_values(queries.table(), np.arange(2), 100_000.0, NeverTheSame())
    {0: 'its windows hold about 3.6e+08 different values to keep'}
    """
    reasons: dict[int, str] = {}
    if recent is None:
        return reasons
    for code in np.unique(table.codes[rows]).tolist():
        shape = table.shapes[code]
        counted = [measure for measure in measures_of(shape) if measure.component == "value_counts"]
        for row in rows[(table.codes[rows] == code) & ~table.windows.rows[rows]] if counted else ():
            range_, slide = int(table.windows.range[row]), int(table.windows.slide[row])
            share = recent.entries(counted[0], shape.group_by, slide)
            entries = rate * range_ / MICROSECONDS * share
            if entries > MOST_ENTRIES:
                reasons[int(row)] = f"its windows hold about {entries:.2g} different values to keep"
    return reasons


def count_keys(
    slides: Iterable[tuple[tuple[str, ...], int]], recent: Recent
) -> tuple[tuple[tuple[str, ...], float], ...]:
    """Count the keys active in a slice of every grouping, a slice being as long as the grouping's shortest slide.

    >>> class TwoKeysATick:
    ...     def keys(self, group_by, slide):
    ...         return 2.0 * slide
    >>> count_keys([(("machine",), 10), ((), 3), (("machine",), 5)], TwoKeysATick())
    ((('machine',), 10.0),)
    """
    shortest: dict[tuple[str, ...], int] = {}
    for group_by, slide in sorted(slides):
        if group_by:
            shortest.setdefault(group_by, slide)
    return tuple((group_by, recent.keys(group_by, slide)) for group_by, slide in shortest.items())


def _parts(table: QueryTable, rows: IntArray) -> list[IntArray]:
    """Part the rows by what can share a tree: the same clock and the same group-by columns.

    Where the clock counts rows, the predicate decides which rows it counts, so it has to be the same, too.
    """
    in_time, in_rows = _numbers(table, rows, with_where=False), _numbers(table, rows, with_where=True)
    kind = np.where(table.windows.rows[rows], in_rows * 2 + 1, in_time * 2)
    return [rows[kind == number] for number in np.unique(kind)]


def _numbers(table: QueryTable, rows: IntArray, with_where: bool) -> IntArray:
    kinds = [(shape.group_by, shape.where if with_where else "") for shape in table.shapes]
    place = {kind: number for number, kind in enumerate(sorted(set(kinds)))}
    return np.array([place[kind] for kind in kinds], dtype=np.int64)[table.codes[rows]]


def _group(table: QueryTable, ids: Sequence[str], rows: IntArray, per_query: bool, options: SearchOptions) -> Group:
    shapes = [table.shapes[code] for code in np.unique(table.codes[rows])]
    measures = sorted({measure for shape in shapes for measure in measures_of(shape)})
    windows = table.windows
    columns = WindowSet(windows.range[rows], windows.slide[rows], windows.offset[rows], bool(windows.rows[rows[0]]))
    needs = _needs(table, rows, measures)
    in_pairs = replace(options, slicing=PAIRS) if columns.rows else options  # a row is a slice of its own
    posed = make_measures_problem(columns, needs, measures, per_query, in_pairs)
    return Group(posed, [ids[row] for row in rows], shapes[0].group_by)


def _needs(table: QueryTable, rows: IntArray, measures: Sequence[Measure]) -> list[BoolArray]:
    """Return, per measure, which of the rows need it."""
    needed = [set(measures_of(shape)) for shape in table.shapes]
    codes = table.codes[rows]
    return [np.array([measure in shape for shape in needed], dtype=np.bool_)[codes] for measure in measures]
