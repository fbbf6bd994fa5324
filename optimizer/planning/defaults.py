"""The defaults of every command and of `optimize`, so that `heddle plan` shows what `heddle evaluate` runs."""

from __future__ import annotations

STRATEGY = "cascade"
TECHNIQUE = "two_stacks_block"  # the fastest one where all slices of a batch are at hand, as in the engine
ASSUMED_RATE = 1000.0  # events per second of a stream whose files do not tell
COMPARED_STRATEGIES = ("no_share", "weave_share", STRATEGY)  # side by side in `heddle compare`
