"""The defaults of every command and of `optimize`, so that `heddle plan` shows what `heddle evaluate` runs."""

from __future__ import annotations

from optimizer.algebra.techniques import DEFAULT_TECHNIQUE

STRATEGY = "cascade"
TECHNIQUE = DEFAULT_TECHNIQUE
ASSUMED_RATE = 1000.0  # events per second of a stream whose files do not tell
COMPARED_STRATEGIES = ("no_share", "weave_share", STRATEGY)  # side by side in `heddle compare`
STRATEGY_NAMES = (  # of STRATEGIES and CARDS, which take long to import, for the help of commands; a test compares them
    "no_share", "shared", "random", "insert_then_weave", "local_search", "exhaustive", "weave_share",
    "incremental_weave_share", "tri_weave", "factor_windows", "cascade",
)  # fmt: skip
REPLANNED_STRATEGIES = (STRATEGY, "weave_share", "tri_weave", "shared")  # the nightly replan takes the best of them
