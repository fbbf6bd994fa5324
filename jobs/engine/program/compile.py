"""Compiles a plan and its catalog into the program the engine runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from jobs.engine.program.program import (
    Coding,
    Grouping,
    Input,
    MeasureProgram,
    Program,
    QueryProgram,
    TreeProgram,
    Unshared,
)
from jobs.engine.program.queries import (
    ADDING,
    BY_TIME,
    COUNT_ALL,
    add_decimals,
    align,
    answer_type,
    inputs_of,
    label_of,
    move_unfoldable,
    shares_of,
    split_by_lane,
)
from jobs.engine.program.spark_types import coding_of, is_short, plain_type, require_key, sum_type
from jobs.engine.sources import table_columns
from jobs.kernels.algebra.operators import COUNT, OPS
from optimizer.algebra.aggregates import COMPONENTS
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Query
from optimizer.catalog.model.source_files import folder_root
from optimizer.catalog.sql.expressions import columns_read, named_column, quote
from optimizer.errors import HeddleError
from optimizer.plan.definition import EVENTS, Measure, Plan, Tree
from optimizer.plan.levels import retained_levels
from optimizer.plan.measures import demands_of, measures_of
from optimizer.windows.edges import union
from optimizer.windows.window import CUTTY


def expressions(
    catalog: Catalog, plan: Plan, types: Mapping[str, pa.DataType] | None = None
) -> tuple[list[str], list[str]]:
    """Return the expressions and the predicates that the plan's queries evaluate, without duplicates, sorted; as far
    as can be told before their types are known, if these are left out."""
    values, predicates = set(), set()
    for tree in plan.trees:
        for query in map(catalog.query, map(str, tree.queries)):
            for measure in add_decimals(query, demands_of(query), types or {}):
                values |= {*inputs_of(measure)}
                predicates.add(measure.where)
    predicates |= {catalog.query(id).where for id in plan.unshared}
    return sorted(values), sorted(predicates - {""})


def compile_program(
    catalog: Catalog, plan: Plan, types: Mapping[str, pa.DataType], frame: Collection[str] = ()
) -> Program:
    """Compile the program of a plan; `types` holds the type of every expression and column by its SQL, and `frame`
    the queries that only Spark evaluates."""
    stream, fingerprint = catalog.streams[plan.stream], plan.fingerprint()
    plan, frame_trees = split_by_lane(catalog, move_unfoldable(catalog, plan, types), frame)
    for name in group_by_columns(catalog, plan):
        require_key(name, types[quote(name)])
    values, predicates = expressions(catalog, plan, types)
    compiler = Compiler(catalog, stream.time, types, dict(_name_all("__v", values)), dict(_name_all("__p", predicates)))
    groupings = dict.fromkeys(tree.group_by for tree in plan.trees)
    compiler.group_by.update({tree.id: tree.group_by for tree in plan.trees})
    compiler.lending = {tree.feed for tree in plan.trees if compiler.group_by.get(tree.feed) != tree.group_by}
    compiler.frame_trees = frame_trees
    compiled = [compiler.grouping(keys, [tree for tree in plan.trees if tree.group_by == keys]) for keys in groupings]
    return Program(
        stream.time,
        tuple(Input(name, sql) for sql, name in compiler.values.items()),
        tuple(Input(name, sql) for sql, name in compiler.predicates.items()),
        tuple(grouping for grouping in compiled if grouping.trees),
        stream.lateness,
        fingerprint,
        {name: plain_type(types[name]) for name in _names_with_types(catalog, plan, types)},
        {column: plain_type(kind) for sql, kind in types.items() if (column := named_column(sql)) is not None},
        tuple(compiler.unshared(catalog.query(id)) for id in plan.unshared),
        stream.zone,
        folder_root(stream),
        stream.corrections,
        table_columns(stream),
    )


def group_by_columns(catalog: Catalog, plan: Plan) -> list[str]:
    """Return the columns that some query groups by."""
    unshared = (catalog.query(id).group_by for id in plan.unshared)
    return sorted({key for keys in (*(tree.group_by for tree in plan.trees), *unshared) for key in keys})


def _names_with_types(catalog: Catalog, plan: Plan, types: Mapping[str, pa.DataType]) -> list[str]:
    """Return the columns and expressions whose types give the types of all answers."""
    values, _ = expressions(catalog, plan)
    labels = [label for id in plan.unshared if (label := label_of(catalog.query(id))) in types]
    columns = [catalog.streams[plan.stream].time, *group_by_columns(catalog, plan)]
    return [*map(quote, columns), *values, *labels]


def _name_all(letter: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(text, f"{letter}{number}") for number, text in enumerate(texts)]


@dataclass
class Compiler:
    """Compiles the trees of a stream, one grouping after another."""

    catalog: Catalog
    time: str
    types: Mapping[str, pa.DataType]
    values: dict[str, str]
    predicates: dict[str, str]
    group_by: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of every tree
    lending: set[str] = field(default_factory=set)  # trees that trees of another grouping are rolled up from
    frame_trees: frozenset[str] = frozenset()

    def grouping(self, keys: tuple[str, ...], trees: Sequence[Tree]) -> Grouping:
        """Compile the trees of one grouping, feeders first; a feeder has the measures of the trees below it, too."""
        children: dict[str, list[Tree]] = {}
        for tree in trees:
            children.setdefault(self._feed(tree), []).append(tree)
        ordered = []
        queue = list(children.get(EVENTS, []))
        while queue:
            ordered.append(queue.pop(0))
            queue += children.get(ordered[-1].id, [])
        compiled: dict[str, TreeProgram] = {}
        for tree in reversed(ordered):
            below = [compiled[child.id] for child in children.get(tree.id, []) if child.id in compiled]
            if tree.queries or below or tree.id in self.lending:
                compiled[tree.id] = self._tree(tree, below)
        types = tuple(self.types[quote(key)] for key in keys) or (pa.bool_(),)
        return Grouping(keys, types, tuple(compiled[tree.id] for tree in ordered if tree.id in compiled))

    def _tree(self, tree: Tree, below: Sequence[TreeProgram]) -> TreeProgram:
        queries = [self._query(self.catalog.query(str(id))) for id in tree.queries]
        measures = {
            measure.key: measure
            for query in map(self.catalog.query, map(str, tree.queries))
            for measure in self._needed_measures(query)
        }
        measures |= {measure.key: measure for child in below for measure in child.measures}
        # rows are kept one by one, each with its predicates' truth: there is nothing to shard
        bits = self._bits(measures.values()) if tree.sharded and not tree.windows.rows else ()
        windows = {query.window for query in queries}.union(*(child.windows for child in below))
        edges, in_order = union([tree.cuts(), *(child.edges for child in below)]), tuple(sorted(windows))
        reach = max([query.window.range for query in queries] + [child.reach for child in below], default=0)
        return TreeProgram(
            tree.id,
            edges,
            self._feed(tree),
            reach,
            tuple(measures[key] for key in sorted(measures)),
            tuple(queries),
            {str(measure): technique for measure, technique in tree.techniques.items()},
            bits,
            {key: self._base(measure) for key, measure in measures.items()} if bits else {},
            tree.windows.rows,
            _rows_where(tree, queries, below) if tree.windows.rows else "",
            "" if tree.feed == self._feed(tree) else tree.feed,
            "frame" if tree.id in self.frame_trees else "file",
            union([tree.edges(), *(child.kept_edges for child in below)]) if tree.slicing == CUTTY else (),
            in_order,
            retained_levels(edges, in_order) if self._feed(tree) == EVENTS else (),
        )

    def _feed(self, tree: Tree) -> str:
        """Return what feeds a tree within its grouping; from another one, partials come as those of the events do."""
        return tree.feed if self.group_by.get(tree.feed) == tree.group_by else EVENTS

    def _bits(self, measures: Iterable[MeasureProgram]) -> tuple[Input, ...]:
        names = {measure.where for measure in measures}
        return tuple(Input(name, sql) for sql, name in self.predicates.items() if name in names)

    def _base(self, measure: MeasureProgram) -> MeasureProgram:
        """Return the measure without its predicate: the same of all events, which shards hold."""
        sql = next((sql for sql, name in self.predicates.items() if name == measure.where), "")
        return replace(measure, key=measure.key.removesuffix(f" where {sql}"), where="")

    def unshared(self, query: Query) -> Unshared:
        """Compile a query that plain Spark answers."""
        if query.window.rows:
            raise HeddleError(
                f"query {query.id}: {query.aggregate} is not woven here, so its windows are not in rows; use a time"
            )
        texts = [text for text in query.arguments if text != "*"]
        read = frozenset[str]().union(*map(columns_read, texts))
        where = self.predicates.get(query.where, "")
        return Unshared(query.id, label_of(query), align(query.window), where, tuple(sorted(read | {*query.group_by})))

    def _needed_measures(self, query: Query) -> list[MeasureProgram]:
        needed = add_decimals(query, demands_of(query), self.types)
        if query.where and not query.window.rows:  # every row of a window in rows passes
            needed.append(Measure("count", COUNT_ALL, query.where))
        return [word for measure in needed for word in self._words(measure)]

    def _query(self, query: Query) -> QueryProgram:
        kind = answer_type(query, self.types)  # first: it says best which argument is of a wrong type
        measures = add_decimals(query, measures_of(query), self.types)
        counted = query.where and not query.window.rows
        passing = str(Measure("count", COUNT_ALL, query.where)) if counted else ""
        return QueryProgram(
            query.id,
            align(query.window),
            query.aggregate,
            tuple(word.key for measure in measures for word in self._words(measure)),
            self.predicates.get(query.where, ""),
            passing,
            kind,
            label_of(query),
            shares_of(query),
            sum_type(self.types[inputs_of(measures[0])[0]]) if measures[0].component in ADDING else None,
        )

    def _words(self, measure: Measure) -> list[MeasureProgram]:
        """Return a measure, and behind it, where it adds decimals of two words, the same of their high words."""
        program = self._measure(measure)
        if program.coding != "decimal" or is_short(self.types[inputs_of(measure)[-1]]):
            return [program]
        return [program, replace(program, key=f"high word of {measure}", coding="high")]

    def _measure(self, measure: Measure) -> MeasureProgram:
        component, sources = measure.component, [self.values[sql] for sql in inputs_of(measure)]
        where = self.predicates.get(measure.where, "")
        if component in BY_TIME or not sources:  # the time is always there: it orders, and is not carried
            return MeasureProgram(
                str(measure), component, OPS[component, "int64"], "int64", "", sources[0] if sources else "", where
            )
        if COMPONENTS[component].tally:  # its rows count the values
            deviation = float(measure.arguments[1]) if component == "registers" else 0.0
            key = str(measure)
            return MeasureProgram(key, component, COUNT, "int64", sources[0], "", where, deviation=deviation)
        kind = self.types[inputs_of(measure)[-1]]
        coding: Coding = "int64" if component == "count" else coding_of(kind, component in ADDING)
        op = OPS.get((component, coding if coding == "float64" else "int64"))
        if op is None:
            raise HeddleError(f"{measure}: {component} is not defined for {kind}; cast it first")
        if component == "co_moments":
            return MeasureProgram(str(measure), component, op, coding, sources[0], "", where, sources[1])
        payload = sources[0] if len(sources) == 2 else ""
        return MeasureProgram(str(measure), component, op, coding, sources[-1], payload, where)


def _rows_where(tree: Tree, queries: Sequence[QueryProgram], below: Sequence[TreeProgram]) -> str:
    """Return the predicate that decides which events are numbered; a plan has one per tree."""
    wheres = {query.where for query in queries} | {child.where for child in below}
    if len(wheres) > 1:
        raise HeddleError(f"tree {tree.id} numbers the rows of several predicates; make a new plan")
    return wheres.pop()
