"""Freed memory stays in the process: arrays that come and go touch no new pages."""

from __future__ import annotations

import subprocess
import sys

PAGES = """
import resource
import numpy as np
import jobs
def come_and_go():
    columns = [np.ones(30_000) for _ in range(4)]
come_and_go()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    come_and_go()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
OF_ONE_ROUND = 4 * 30_000 * 8 // 4096


def test_arrays_take_the_memory_of_those_before_them() -> None:
    pages = int(subprocess.run([sys.executable, "-c", PAGES], check=True, capture_output=True, text=True).stdout)
    assert pages < 5 * OF_ONE_ROUND  # of a hundred rounds
