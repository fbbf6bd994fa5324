"""What the papers' techniques share: memory, clock, loop, exact sums.

- clock: When windows end: the clock that all kernels share.
- contract: What every kernel is: closed partials of a tree in, in slice order; the windows that end out.
- exact_sums: Sums that can be taken back: the accumulators of the invertible techniques.
- loop: The loop that all techniques share, each with its own `insert` and `query`.
- memory: What a kernel remembers between partials: flat arrays of 64-bit words, and the operators on them.
"""
