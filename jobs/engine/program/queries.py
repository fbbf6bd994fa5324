"""What is known of a query before its events: its label, the type of its answers, whether it can be folded, its lane.

Tasks feed the file lane from files; what only Spark evaluates is the frame lane.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa

from jobs.engine.program.program import Grouping, Input, Lane, Program, TreeProgram
from jobs.engine.program.spark_types import Unfoldable, coding_of, list_of, require_plain, result_type
from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.spark_types.results import asks_several
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import EVENTS, Measure, Plan, Tree
from optimizer.plan.measures import demands_of, measures_of
from optimizer.windows.window import Window

COUNT_ALL = ("*",)
BY_TIME = ("first", "last")
AVERAGES = ("avg", "try_avg")  # finished from a sum and a count
ADDING = ("sum", "sum_squares")
FRAME_PART = "~"  # ends the id of the frame lane's part of a tree whose other part is in the file lane


def align(window: Window) -> Window:
    """Return the window with its smallest offset: offsets that differ by whole slides name the same windows.

    >>> align(Window(range=10, slide=5, offset=7)).offset
    2
    """
    return replace(window, offset=window.offset % window.slide)


@lru_cache(maxsize=8_192)
def label_of(query: Query) -> str:
    """Return what result files call a query: an answer belongs to a query as it was defined, not just to its id."""
    window = align(query.window)
    clock = (window.range, window.slide, window.offset, window.rows)
    definition = (clock, query.aggregate, query.arguments, query.where, query.group_by)
    return f"{query.id}@{hashlib.sha256(repr(definition).encode()).hexdigest()[:12]}"


def inputs_of(measure: Measure) -> list[str]:
    """Return the expressions a measure folds: what is compared or added up comes last, what is carried before it."""
    if measure.arguments == COUNT_ALL:
        return []
    if measure.component == "sum_squares":
        return [f"({measure.arguments[0]}) * ({measure.arguments[0]})"]
    if measure.component == "product":
        return [f"cast({measure.arguments[0]} AS DOUBLE)"]
    return list(measure.arguments[:1] if measure.component == "registers" else measure.arguments)


def add_decimals(query: Query, measures: list[Measure], types: Mapping[str, pa.DataType]) -> list[Measure]:
    """Return the measures of a query, where an average adds decimals as such, and other numbers as doubles."""
    if query.aggregate not in AVERAGES:
        return measures
    total, count, *others = measures
    kind = types.get(count.arguments[0])
    if kind is None or not pa.types.is_decimal(kind):
        return measures
    return [replace(total, arguments=count.arguments), count, *others]


def shares_of(query: Query) -> tuple[float, ...]:
    """Return the constants of a percentile: which shares of a window's values lie below its answers."""
    if query.aggregate == "median":
        return (0.5,)
    if not query.aggregate.startswith("percentile"):
        return ()
    shares = query.arguments[1]
    return tuple(map(float, shares.removeprefix("array(").removesuffix(")").split(",")))


def typed_by(query: Query, types: Container[str]) -> list[str]:
    """Return the names under which `types` has what decides the type of a query's answers.

    These are its expressions; or its own label where plain Spark answers it.
    """
    if not AGGREGATES[query.aggregate].shared or label_of(query) in types:
        return [label_of(query)]
    return [sql for measure in measures_of(query) for sql in inputs_of(measure)]


def answer_type(query: Query, types: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return the type of the query's answers, from the types of its expressions."""
    if not AGGREGATES[query.aggregate].shared or label_of(query) in types:
        return types[label_of(query)]
    measures = measures_of(query)
    argument = inputs_of(measures[-1])  # an average sums a cast, and then counts the argument
    kind = result_type(query.aggregate, [types[sql] for sql in argument])
    return list_of(kind) if asks_several(query.aggregate, query.arguments) else kind


Types = Mapping[str, pa.DataType]


def is_foldable(query: Query, types: Types) -> bool:
    """Return whether partials can hold a query's values, as far as `types` has their types."""
    if label_of(query) in types:  # then the type of its answers came from Spark, since nobody else has it
        return False
    measures = add_decimals(query, measures_of(query), types)
    if not all(sql in types for measure in measures for sql in inputs_of(measure)):
        return True
    try:
        answer_type(query, types)
        for measure in measures:
            if COMPONENTS[measure.component].tally:
                require_plain(types[inputs_of(measure)[0]])
            elif measure.component not in ("count", *BY_TIME) and inputs_of(measure):
                coding_of(types[inputs_of(measure)[-1]], measure.component in ADDING)
    except Unfoldable:
        return False
    return True


def move_unfoldable(catalog: Catalog, plan: Plan, types: Types) -> Plan:
    """Return the plan with the queries that cannot be folded (their values are intervals, say) as unshared ones."""
    if all(_is_plain(kind) and "@" not in name for name, kind in types.items()):  # "@": the label of a query
        return plan
    queries = {str(id) for tree in plan.trees for id in tree.queries}
    unfoldable = {id for id in queries if not is_foldable(catalog.query(id), types)}
    trees = (replace(tree, queries=[id for id in tree.queries if str(id) not in unfoldable]) for tree in plan.trees)
    return replace(plan, trees=tuple(trees), unshared=(*plan.unshared, *sorted(unfoldable)))


def _is_plain(kind: pa.DataType) -> bool:
    """Return whether values of a type can be folded by every aggregate that takes them."""
    if pa.types.is_decimal(kind):
        return False
    try:
        coding_of(kind)
    except Unfoldable:
        return False
    return True


def queries_for_spark(catalog: Catalog, plan: Plan, reasons: Mapping[str, str]) -> dict[str, str]:
    """Return the woven queries that the file lane cannot feed, by id, each with the reason.

    `reasons` says why, by its SQL, of every expression, predicate and column that only Spark evaluates exactly."""
    if not reasons:
        return {}
    woven = (catalog.query(str(id)) for tree in plan.trees for id in tree.queries)
    reasons_by_query = ((query.id, [reasons[text] for text in _texts(query) if text in reasons]) for query in woven)
    return {id: because[0] for id, because in reasons_by_query if because}


def _texts(query: Query) -> Iterator[str]:
    for measure in demands_of(query):
        yield from inputs_of(measure)
        yield measure.where
    yield from map(quote, query.group_by)


def split_by_lane(catalog: Catalog, plan: Plan, frame: Collection[str]) -> tuple[Plan, frozenset[str]]:
    """Return the plan with every tree split by the lanes of its queries, and the ids of the frame lane's trees.

    Both parts of a tree have all its edges, and so the same answers. A tree with queries of one lane stays whole."""
    if not frame:
        whole = {tree.id: tree for tree in plan.trees}
        return replace(plan, trees=tuple(_feed_by(catalog, tree, whole, {}) for tree in plan.trees)), frozenset()
    lanes: dict[Lane, Collection[str]] = {"file": _queries(plan) - set(frame), "frame": set(frame)}
    parts = {lane: _keep_queries(plan.trees, queries) for lane, queries in lanes.items()}
    both = parts["file"].keys() & parts["frame"].keys()
    frame_ids = {id: f"{id}{FRAME_PART}" if id in both else id for id in parts["frame"]}
    file_trees = [_feed_by(catalog, tree, parts["file"], {}) for tree in parts["file"].values()]
    frame_trees = [_feed_by(catalog, tree, parts["frame"], frame_ids) for tree in parts["frame"].values()]
    return replace(plan, trees=(*file_trees, *frame_trees)), frozenset(frame_ids.values())


def _queries(plan: Plan) -> set[str]:
    return {str(id) for tree in plan.trees for id in tree.queries}


def _keep_queries(trees: Collection[Tree], queries: Collection[str]) -> dict[str, Tree]:
    """Return the trees that answer some of the queries, or feed such trees, by id, with these queries alone."""
    narrowed = {tree.id: replace(tree, queries=[id for id in tree.queries if str(id) in queries]) for tree in trees}
    needed = {tree.id for tree in narrowed.values() if tree.queries}
    queue = list(needed)
    while queue:
        feed = narrowed[queue.pop()].feed
        if feed in narrowed and feed not in needed:
            needed.add(feed)
            queue.append(feed)
    return {id: tree for id, tree in narrowed.items() if id in needed}


def _feed_by(catalog: Catalog, tree: Tree, part: Mapping[str, Tree], ids: Mapping[str, str]) -> Tree:
    """Return a tree fed by the same lane's part of its feeder, or by events where that part cannot feed it."""
    feeder = part.get(tree.feed)
    own = ids.get(tree.id, tree.id)
    if feeder is None or not _can_feed(catalog, feeder, tree, part):
        return replace(tree, id=own, feed=EVENTS)
    return replace(tree, id=own, feed=ids.get(feeder.id, feeder.id))


def _can_feed(catalog: Catalog, feeder: Tree, tree: Tree, part: Mapping[str, Tree]) -> bool:
    """Whether the signatures of a finer grouping's shards still have a bit for every predicate that is rolled up."""
    if feeder.group_by == tree.group_by or not tree.sharded:
        return True
    return _wheres(catalog, tree, part) <= _wheres(catalog, feeder, part)


def _wheres(catalog: Catalog, tree: Tree, part: Mapping[str, Tree]) -> set[str]:
    """Return the predicates of a tree and of those that it feeds within its grouping."""
    below = (child for child in part.values() if child.feed == tree.id and child.group_by == tree.group_by)
    own = {measure.where for id in tree.queries for measure in demands_of(catalog.query(str(id)))} - {""}
    return own.union(*(_wheres(catalog, child, part) for child in below))


def of_lane(program: Program, lane: Lane) -> Program:
    """Return the program with the trees of one lane, and only what these evaluate; without unshared queries."""
    groupings = (replace(g, trees=tuple(tree for tree in g.trees if tree.lane == lane)) for g in program.groupings)
    of_this_lane = tuple(grouping for grouping in groupings if grouping.trees)
    names = {name for grouping in of_this_lane for tree in grouping.trees for name in _input_names(tree)}
    return replace(
        program,
        values=_select_inputs(program.values, names),
        predicates=_select_inputs(program.predicates, names),
        groupings=of_this_lane,
        unshared=(),
    )


def _input_names(tree: TreeProgram) -> Iterator[str]:
    for measure in (*tree.measures, *tree.bases.values()):
        yield from (*measure.inputs, measure.where)
    yield from (query.where for query in tree.queries)
    yield from (test.name for test in tree.bits)
    yield tree.where


def _select_inputs(inputs: Collection[Input], names: Collection[str]) -> tuple[Input, ...]:
    return tuple(item for item in inputs if item.name in names)


def frame_labels(groupings: Collection[Grouping]) -> tuple[str, ...]:
    """Return the labels of the frame lane's queries where some are in either lane; none where trees are whole."""
    trees = [tree for grouping in groupings for tree in grouping.trees]
    if len({tree.lane for tree in trees}) < 2:
        return ()
    return tuple(sorted(query.label for tree in trees if tree.lane == "frame" for query in tree.queries))
