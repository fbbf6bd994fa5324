"""What the papers' techniques share: memory, clock, loop, exact sums.

- clock: When windows end: the clock that all kernels share.
- contract: What every kernel is: closed partials of a tree in, in slice order; the windows that end out.
- exact_sums: Sums that can be taken back: the accumulators of the invertible techniques.
- loop: The loop that all techniques share, each with its own `insert` and `query`.
- memory: What a kernel remembers between partials: a handful of flat arrays of one shape for all techniques.
- words: Rows as 64-bit words, so that every technique is compiled once and not once per kind of number.
"""
