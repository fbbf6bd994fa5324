"""A plan in words: what it costs, what it saves, and one line per tree."""

from __future__ import annotations

from optimizer.plan import Plan, Tree

LONGEST = 200  # trees that are listed before the rest is summed up


def explain(plan: Plan) -> str:
    """Why the plan is good, then its trees."""
    name = f"stream {plan.stream}" if plan.stream else "in-memory windows"
    lines = [
        f"plan of {name} by {plan.strategy}, fingerprint {plan.fingerprint()}",
        f"  no_share cost {plan.costs.no_share:.6g}",
        f"  shared cost   {plan.costs.shared:.6g}",
        f"  planned cost  {plan.cost:.6g}",
        f"  saving        {plan.saving:.1%} of no_share",
        f"  trees         {len(plan.trees)} for {sum(len(tree.queries) for tree in plan.trees)} queries",
    ]
    if not plan.exact:
        lines.append("  edge rates are estimates: counting them exactly went over the time budget")
    if plan.unshared:
        lines.append(f"  unshared      {len(plan.unshared)} holistic queries on plain Spark: {_some(plan.unshared)}")
    lines += [tree_line(tree) for tree in plan.trees[:LONGEST]]
    if len(plan.trees) > LONGEST:
        lines.append(f"  ... and {len(plan.trees) - LONGEST} trees more")
    return "\n".join(lines)


def tree_line(tree: Tree) -> str:
    """One tree: its queries, edges, edge rate, technique, and what feeds it."""
    queries = f"{len(tree.queries)} queries" if len(tree.queries) else "no queries, feeds others"
    keys = f", by {', '.join(tree.group_by)}" if tree.group_by else ""
    return (
        f"  {tree.id}: {queries}{keys}, edges {edges_text(tree)}, edge rate {tree.edge_rate}, "
        f"{tree.technique or 'no technique'}, fed by {tree.feed}, cost {tree.cost:.6g}"
    )


def edges_text(tree: Tree, most: int = 6) -> str:
    """The progressions of its edges, the first few."""
    found = [f"{residue}+{period}k" if residue else f"{period}k" for period, residue in sorted(tree.edges())]
    return " ".join(found[:most]) + (f" ... ({len(found)})" if len(found) > most else "")


def _some(names: tuple[str, ...], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
