"""The incremental techniques, jitted: KERNELS by name, streams of partials through them, sliding answers of a column."""

from jobs.kernels.registry import KERNELS

__all__ = ["KERNELS"]
