"""What a run shows: bar charts, a row per query and a row per tree as Parquet, a child run for each of the costliest
trees.

Runs stay small however many queries there are, and a page that lists thousands of trees is read by nobody.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.tracking.store import Entry, Store
from optimizer.catalog.model.catalog import Catalog
from optimizer.plan.definition import Plan, Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure


INK, BAR, OTHER = "#1f2933", "#2a7f9e", "#e0a030"
TREES = "trees.json"  # the trees of an evaluation as a table that MLflow shows


@dataclass(frozen=True)
class Bars:
    """A plan by its name, and what it costs in CPU milliseconds per 1,000 events; the estimate where there is one."""

    name: str
    estimated: float | None
    measured: float


def cost_chart(costs: Mapping[str, float], unit: str) -> bytes:
    """Draw a bar per candidate as SVG, the cheapest first."""
    figure = _figure(4.0 + 0.35 * len(costs))
    axes = figure.add_subplot()
    ordered = sorted(costs.items(), key=lambda item: item[1])
    names, values = [name for name, _ in ordered], [value for _, value in ordered]
    axes.barh(range(len(names)), values, color=BAR)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(f"estimated cost, {unit}")
    return _svg(figure)


def comparison_chart(plans: Sequence[Bars]) -> bytes:
    """Draw two bars per plan as SVG, what was estimated and what was measured, the cheapest plan first."""
    ordered = sorted(plans, key=lambda plan: plan.measured)
    figure = _figure(1.6 + 0.6 * len(ordered))
    axes, places = figure.add_subplot(), range(len(ordered))
    estimates = [(place - 0.2, plan.estimated) for place, plan in enumerate(ordered) if plan.estimated is not None]
    if estimates:
        axes.barh([place for place, _ in estimates], [e for _, e in estimates], 0.38, color=OTHER, label="estimated")
    axes.barh([place + 0.2 for place in places], [p.measured for p in ordered], 0.38, color=BAR, label="measured")
    axes.set_yticks(places, [plan.name for plan in ordered])
    axes.invert_yaxis()
    axes.legend(loc="best", frameon=False)
    axes.set_xlabel("CPU milliseconds per 1,000 events")
    return _svg(figure)


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(8.0, height), layout="constrained")


def _svg(figure: Figure) -> bytes:
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "heddle"}):
        sink = io.BytesIO()
        figure.savefig(sink, format="svg", metadata={"Date": None})
        return sink.getvalue()


def query_table(catalog: Catalog, plan: Plan) -> pa.Table:
    """Return a row per query of the stream: what it asks, and the tree that answers it."""
    table = catalog.of_stream(plan.stream)
    home = {str(query): tree for tree in plan.trees for query in tree.queries}
    ids = table.ids.to_pylist()
    trees = [home.get(query) for query in ids]
    shapes = pa.array(table.codes)

    def of_shape(values: list[str]) -> pa.Array:
        return pa.array(values, pa.string()).take(shapes)

    return pa.table(
        {
            "query": table.ids,
            "tree": pa.array([tree.id if tree else None for tree in trees], pa.string()),
            "aggregate": of_shape([shape.aggregate for shape in table.shapes]),
            "arguments": of_shape([", ".join(shape.arguments) for shape in table.shapes]),
            "where": of_shape([shape.where for shape in table.shapes]),
            "group_by": of_shape([", ".join(shape.group_by) for shape in table.shapes]),
            "range": table.windows.range,
            "slide": table.windows.slide,
            "offset": table.windows.offset,
            "rows": table.windows.rows,
            "overlap_factor": table.windows.range / np.maximum(table.windows.slide, 1),
            "technique": pa.array([tree.technique if tree else None for tree in trees], pa.string()),
        }
    )


def as_page(table: pa.Table) -> str:
    """Return a table as MLflow shows one on the page of a run.

    >>> as_page(pa.table({"tree": ["t1"], "queries": [3]}))
    '{"columns": ["tree", "queries"], "data": [["t1", 3]]}'
    """
    return json.dumps({"columns": table.column_names, "data": [list(row.values()) for row in table.to_pylist()]})


def tree_table(plan: Plan, measured: Mapping[str, Mapping[str, Any]] | None = None) -> pa.Table:
    """Return a row per tree: what it costs, what feeds it, and what was counted if it was evaluated."""
    measured = measured or {}
    rows = [
        {
            "tree": tree.id,
            "queries": len(tree.queries),
            "windows": len(tree.windows),
            "group_by": ", ".join(tree.group_by),
            "edge_rate": float(tree.edge_rate),
            "technique": tree.technique,
            "feed": tree.feed,
            "estimated_cost": tree.cost,
            "partials": measured.get(tree.id, {}).get("partials"),
            "operations": measured.get(tree.id, {}).get("operations"),
            "estimated_operations": measured.get(tree.id, {}).get("estimated_operations"),
        }
        for tree in plan.trees
    ]
    return pa.Table.from_pylist(rows)


def as_parquet(table: pa.Table) -> bytes:
    """Return the bytes of a table as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


MOST = 50  # the rest is in trees.parquet


def log_trees(store: Store, parent: str, plan: Plan, measured: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Write a child run for each of the costliest trees."""
    for tree in sorted(plan.trees, key=lambda tree: -tree.cost)[:MOST]:
        store.child(_entry(plan, tree, (measured or {}).get(tree.id, {})), parent)


def _entry(plan: Plan, tree: Tree, measured: Mapping[str, Any]) -> Entry:
    params = {
        "tree": tree.id,
        "technique": tree.technique,
        "feed": tree.feed,
        "group_by": ", ".join(tree.group_by),
        "edge_rate": str(tree.edge_rate),
    }
    metrics = {"estimated_cost": tree.cost, "queries": len(tree.queries), "windows": len(tree.windows)}
    counted = ("partials", "operations", "estimated_operations")
    metrics |= {name: measured[name] for name in counted if name in measured}
    return Entry(plan.stream, "tree", tree.id, params, metrics)
