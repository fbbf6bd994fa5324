"""What the papers' techniques share: memory, clock, loop, exact sums.

- clock: When windows end: the clock that all kernels share.
- contract: What every kernel is, and the loop that all techniques share.
- exact_sums: Sums that can be taken back: the accumulators of the invertible techniques.
- memory: What a kernel remembers between partials: flat arrays of 64-bit words, and the operators on them.
"""
