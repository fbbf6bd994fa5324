"""The user's statements, rewritten to read the slices of their trees."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.model.query import Column, Query, Statement
from optimizer.catalog.model.render import window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.plan.definition import Plan, Tree
from optimizer.rewrite.answer_types import may_widen
from optimizer.rewrite.partials import finish_query
from optimizer.rewrite.views import Names, count_passing, select_sql

Members = dict[str, list[Query]]  # the queries of every statement


def members_of(catalog: Catalog, stream: str) -> Members:
    """Return the statements over a stream, in the catalog's order, with their queries."""
    members: Members = {}
    for query in catalog.of_stream(stream):
        members.setdefault(query.statement, []).append(query)
    return members


def answering_trees(plan: Plan, members: Members, types: Mapping[str, str]) -> dict[str, Tree]:
    """Return the tree of every statement that slices can answer; the other statements stay as the user wrote them."""
    tree_of = {query: tree for tree in plan.trees for query in tree.queries}
    answering = {}
    for statement, queries in members.items():
        tree = tree_of.get(queries[0].id)
        together = all(tree_of.get(query.id) is tree for query in queries)
        exact = not queries[0].window.rows and not any(may_widen(query, types) for query in queries)
        if tree and together and exact:
            answering[statement] = tree
    return answering


def answer(statement: Statement, members: list[Query], view: str, names: Names) -> str:
    """Return the statement over slices: its windows end at edges, so each window holds the slices that begin in it."""
    queries = {query.id: query for query in members}
    query = members[0]
    columns = [_column(column, queries, names) for column in statement.columns]
    where = f"{quote(names.measures[count_passing(query.where)])} > 0" if query.where else ""
    grouped = [*map(quote, query.group_by), window_call(query.window, names.slice)]
    return select_sql(columns, view, where, grouped, statement.id)


def _column(column: Column, queries: Mapping[str, Query], names: Names) -> str:
    if column.source in queries:
        source = finish_query(queries[column.source], names.measures)
    elif column.source in ("window", "window.start", "window.end"):
        source = column.source
    else:
        source = quote(column.source)
    return source if source == quote(column.name) else f"{source} AS {quote(column.name)}"
