"""The strategies: one file each, and one line here.

- cascade: Cascade: every tree reads the raw events or the partials of a tree whose edges contain its own.
- exhaustive: All partitions of a few windows: the oracle that the other strategies are measured by.
- factor_windows: Factor windows: compute windows from sub-aggregates of others, by the coverage graph of the paper.
- incremental_weave_share: Incremental WeaveShare: queries join one by one where they add least.
- insert_then_weave: Insert-then-Weave: put the queries one by one where they add least.
- local_search: Local search: from every class in a tree of its own.
- no_share: Every query in a tree of its own: what Spark does by itself, and the yardstick of every other plan.
- random: Random plans, the cheapest of a few: how good is no strategy at all? A fixed seed makes them repeatable.
- shared: All queries in one tree: the least partial work, the most final work.
- tri_weave: TriWeave: one sub-aggregation at the union of all edges, whose partials every tree folds into its own.
- weave_share: WeaveShare: greedy merging with a cost lookup over classes of equal edges.
- contract: What every strategy takes and gives.
- search: What strategies search with.
"""

from __future__ import annotations

from optimizer.strategies.cascade import cascade
from optimizer.strategies.contract.strategy import Card
from optimizer.strategies.exhaustive import exhaustive
from optimizer.strategies.factor_windows import factor_windows
from optimizer.strategies.incremental_weave_share import incremental_weave_share
from optimizer.strategies.insert_then_weave import insert_then_weave
from optimizer.strategies.local_search import local_search
from optimizer.strategies.no_share import no_share
from optimizer.strategies.random import random
from optimizer.strategies.shared import shared
from optimizer.strategies.tri_weave import tri_weave
from optimizer.strategies.weave_share import weave_share

WEAVE = "Weave Share (CIKM 2011)"
THREE_LEVEL = "Three-Level Processing (ICDE 2012)"
FACTOR = "Factor Windows (ICDE 2022)"

STRATEGIES: dict[str, Card] = {
    card.name: card
    for card in (
        Card(
            "no_share", "No sharing", no_share, "weave_share", "n", f"{WEAVE}, section 4.1", per_query=True, plain=True
        ),
        Card("shared", "One shared tree", shared, "weave_share", "n", f"{WEAVE}, section 4.1", plain=True),
        Card("random", "Random trees", random, "weave_share", "c", f"{WEAVE}, section 6", plain=True),
        Card(
            "insert_then_weave",
            "Insert-then-Weave",
            insert_then_weave,
            "weave_share",
            "cm + m^3",
            f"{WEAVE}, section 6",
        ),
        Card("local_search", "Local search", local_search, "weave_share", "cm a pass", f"{WEAVE}, section 6"),
        Card("exhaustive", "All partitions", exhaustive, "weave_share", "3^n", f"{WEAVE}, section 6"),
        Card("weave_share", "Weave Share", weave_share, "weave_share", "c^2", f"{WEAVE}, section 5.1"),
        Card(
            "incremental_weave_share",
            "Incremental Weave Share",
            incremental_weave_share,
            "weave_share",
            "cm, and a build when it drifts",
            f"{WEAVE}, section 5.2",
        ),
        Card("tri_weave", "TriWeave", tri_weave, "tri_weave", "c^2", f"{THREE_LEVEL}, section 4"),
        Card(
            "factor_windows",
            "Factor windows",
            factor_windows,
            "cascade",
            "n^2",
            f"{FACTOR}, Algorithms 1 to 5",
            in_bundles=False,
        ),
        Card(
            "cascade",
            "Cascade",
            cascade,
            "cascade",
            "3^c to 16 classes, else c^2 and annealing",
            "ours; the other strategies' plans are special cases of it",
        ),
    )
}
