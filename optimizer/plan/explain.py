"""A plan in words: what it costs, what it saves, and one line per tree."""

from __future__ import annotations

from optimizer.plan.definition import EVENTS, Plan, Shards, Tree
from optimizer.windows.window import PAIRS

LONGEST = 200  # trees that are listed before the rest is summed up
UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"), (1, "µs"))


def explain(plan: Plan) -> str:
    """Return why the plan is good, then its trees."""
    lines = [*summary(plan), *(tree_line(plan, tree) for tree in plan.trees[:LONGEST])]
    if len(plan.trees) > LONGEST:
        lines.append(f"  ... and {len(plan.trees) - LONGEST} trees more")
    return "\n".join(lines)


def summary(plan: Plan) -> list[str]:
    """Return the costs with and without the plan, and what it leaves open."""
    name = f"stream {plan.stream}" if plan.stream else "in-memory windows"
    lines = [
        f"plan of {name} by {plan.strategy}, fingerprint {plan.fingerprint()}",
        f"  no_share cost {plan.costs.no_share:.6g}",
        f"  shared cost   {plan.costs.shared:.6g}",
        f"  planned cost  {plan.cost:.6g}",
        *seconds_lines(plan),
        f"  saving        {plan.saving:z.1%} of no_share",
        f"  trees         {len(plan.trees)} for {counted(sum(len(tree.queries) for tree in plan.trees))}",
    ]
    if slicings := sorted({tree.slicing for tree in plan.trees} - {PAIRS}):
        lines.append(f"  slicing       {', '.join(slicings)}")
    if not plan.exact:
        lines.append("  edge rates    estimated: counting them exactly went over the time budget")
    if plan.unshared:
        names = ", ".join(plan.unshared[:5]) + (", ..." if len(plan.unshared) > 5 else "")
        lines.append(f"  unshared      {counted(len(plan.unshared))} on plain Spark: {names}")
        lines += [f"                {query}: {reason}" for query, reason in list(plan.reasons.items())[:5]]
    return lines


def seconds_lines(plan: Plan) -> list[str]:
    """Return what the plan should take on this machine, where its prices are known."""
    milliseconds = plan.milliseconds_per_thousand
    if milliseconds is None:
        return []
    line = f"  estimated     {milliseconds:.4g} CPU ms per 1,000 events"
    if plan.costs.shared_seconds:
        line += f", {plan.costs.shared_seconds / plan.rate * 1e6:.4g} as one tree per grouping"
    return [line]


def tree_line(plan: Plan, tree: Tree) -> str:
    """Return the line of a tree: its queries, edges, edge rate, technique, and what feeds it."""
    queries = counted(len(tree.queries)) if len(tree.queries) else "answers no query"
    keys = f" by {', '.join(tree.group_by)}" if tree.group_by else ""
    return (
        f"  {tree.id}: {queries}{keys}, edges {edges_text(plan, tree)}, {rate_text(plan, tree)}, "
        f"{tree.technique or 'no technique'}, {feed_text(plan, tree)}, cost {tree.cost:.6g}"
        + (f"\n      {shards_text(tree.shards)}" if tree.shards else "")
    )


def feed_text(plan: Plan, tree: Tree) -> str:
    """Return what feeds a tree: events, the partials or shards of another tree, or those of a finer grouping."""
    if tree.feed == EVENTS:
        return f"fed by {tree.feed}"
    finer = plan.tree(tree.feed).group_by
    if finer == tree.group_by:
        return f"fed by {'shards of ' if plan.tree(tree.feed).sharded else ''}{tree.feed}"
    groups = plan.traffic.keys_of(finer, rows=False)
    return f"rolled up from {tree.feed} by {', '.join(finer)} ({groups:.4g} groups a slice)"


def shards_text(shards: Shards) -> str:
    """Return why predicates are evaluated together or separately, in operations per second.

    With shards, every event goes into the one shard of the predicates that it passes (|T|), and the k shards of a
    slice are merged for each predicate (beta). Separately, it goes into a partial of each of them (alpha).
    """
    way = "shards" if shards.is_cheaper else "evaluated separately"
    noun = "1 predicate" if shards.predicates == 1 else f"{shards.predicates} predicates"
    times = f" for each of {shards.measures} measures" if shards.measures > 1 else ""
    return (
        f"{noun}, {way}: |T| + k*beta = {shards.events:.4g} + {shards.shards:.4g} * {shards.beta:.4g}, "
        f"alpha*|T| = {shards.alpha:.4g} * {shards.events:.4g}{times}"
    )


def edges_text(plan: Plan, tree: Tree, most: int = 6) -> str:
    """Return where its slices end, the first few progressions: "every 10s", "every 15min + 5min"."""
    edges = sorted(tree.edges())
    rows = tree.windows.rows
    texts = [
        f"{length(plan, period, rows)} + {length(plan, residue, rows)}" if residue else length(plan, period, rows)
        for period, residue in edges[:most]
    ]
    return f"every {', '.join(texts)}" + (f" ... ({len(edges)})" if len(edges) > most else "")


def rate_text(plan: Plan, tree: Tree) -> str:
    """Return how many slices end: in a second of a stream, in a row, or exactly, where a plan is of windows alone."""
    if plan.traffic.ticks == 1:
        return f"edge rate {tree.edge_rate}"
    if tree.windows.rows:
        return f"{float(tree.edge_rate):.4g} edges a row"
    return f"{float(tree.edge_rate) * plan.traffic.ticks:.4g} edges a second"


def length(plan: Plan, ticks: int, rows: bool) -> str:
    """Return a range or a slide in the largest unit that divides it."""
    if rows:
        return f"{ticks} rows"
    return str(ticks) if plan.traffic.ticks == 1 else short_length(ticks)


def short_length(ticks: int) -> str:
    """Return a length of time in the largest unit that divides it.

    >>> short_length(90_000_000), short_length(3_600_000_000)
    ('90s', '1h')
    """
    size, unit = next((size, unit) for size, unit in UNITS if ticks % size == 0)
    return f"{ticks // size}{unit}"


def saving_text(saving: float) -> str:
    """Say how a plan's operations compare with those of one tree per query; a plan of fewer seconds may have more.

    >>> saving_text(0.146), saving_text(-0.03), saving_text(0.0)
    ('14.6% below one tree per query', '3.0% above one tree per query', '0.0% below one tree per query')
    """
    return f"{abs(saving):.1%} {'above' if saving < 0 else 'below'} one tree per query"


def cost_text(cost: float) -> str:
    """Return a cost as a person reads it: without decimals from a thousand on."""
    return f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"


def counted(number: int, one: str = "query", many: str = "queries") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(1200), counted(1, "tree", "trees"), counted(3, "tree", "trees")
    ('1 query', '1,200 queries', '1 tree', '3 trees')
    """
    return f"{number:,} {one if number == 1 else many}"
