"""The defaults of every command and of `optimize`, so that `heddle plan` shows what `heddle evaluate` runs."""

from __future__ import annotations

from optimizer.algebra.techniques import DEFAULT_TECHNIQUE

STRATEGY = "cascade"
TECHNIQUE = DEFAULT_TECHNIQUE
BATCH_SECONDS = 300.0  # of the stream in a batch, as the schedule has it: what a tree takes by itself is paid per batch
ASSUMED_RATE = 1000.0  # events per second of a stream whose files do not tell
COMPARED_STRATEGIES = ("no_share", "weave_share", STRATEGY)  # side by side in `heddle compare`
REPLANNED_STRATEGIES = (STRATEGY, "weave_share")  # of which the nightly replan takes the cheaper plan
