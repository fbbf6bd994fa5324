"""Blocks whose size is a power of two and whose start is a multiple of it."""

from __future__ import annotations


def blocks(start: int, end: int, most: int) -> int:
    """The fewest such blocks, of at most `most` places, that make up [start, end)."""
    found = 0
    while start < end:
        size = (start & -start) or most
        while size > min(most, end - start):
            size >>= 1
        start += size
        found += 1
    return found
