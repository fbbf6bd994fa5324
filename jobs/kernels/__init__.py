"""The incremental techniques, jitted: KERNELS by name, streams of partials through them, answers of a column."""

from jobs.kernels.registry import KERNELS
from jobs.kernels.sliding import sliding

__all__ = ["KERNELS", "sliding"]
