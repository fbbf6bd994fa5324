"""The defaults of every command and of `optimize`: what `heddle plan` shows is what `heddle evaluate` runs."""

from __future__ import annotations

STRATEGY = "cascade"
TECHNIQUE = "two_stacks_block"  # the fastest where, as in the engine, all slices of a batch are at hand
ASSUMED_RATE = 1000.0  # events per second of a stream that nothing is known of
