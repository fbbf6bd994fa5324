"""Keep freed memory for the next array, so that it need not be cleared by the system once more.

glibc gives the end of its heap back as soon as a little more is free there than the largest array it ever freed. An
engine that works on whole columns then touches new pages for every array, which takes several times as long as the work
on it.
"""

from __future__ import annotations

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # parameters of mallopt
KEPT, LARGE = 256 << 20, 32 << 20  # bytes: free memory that a process keeps; arrays that go back to the system at once


def keep_freed_memory() -> None:
    """Tell the C library how much free memory to keep, where it is one that can be told."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library than glibc
        return
    mallopt(MMAP_THRESHOLD, LARGE)
    mallopt(TRIM_THRESHOLD, KEPT)
