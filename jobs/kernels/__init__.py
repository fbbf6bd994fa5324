"""The incremental techniques, jitted: KERNELS by name, streams of partials through them, answers of a column.

- arrays: The array types that kernels share.
- warm: Compile every kernel for every type, so that numba's cache on disk holds them when a worker asks first.
- algebra: Operators and how components become an answer.
- columns: Our own kernels over whole columns of slices.
- fdlibm: Elementary functions to the bit as Java's StrictMath has them.
- in_memory: Answers over one column in memory: `sliding`.
- machine: What the papers' techniques share: memory, clock, loop, exact sums.
- slices: Kernels that make and combine slices.
- tallies: Registers and value counts, as sorted codes with a number each, and what windows hold of them.
- techniques: The table of kernels: one file each, one line each.
"""

from jobs.kernels.in_memory.sliding import sliding
from jobs.kernels.techniques import KERNELS

__all__ = ["KERNELS", "sliding"]
