"""CPU seconds of a block: its process, its children, and children that have ended, without what was spent before."""

from __future__ import annotations

import subprocess
import sys
import time

from jobs.host.machine import CpuMeter

SPEND = "import time\nwhile time.process_time() < {seconds}: pass"


def spend(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_what_this_process_spends_in_the_block() -> None:
    spend(0.2)  # before the block: does not count
    with CpuMeter() as meter:
        spend(0.3)
        time.sleep(0.2)
    assert 0.25 <= meter.cpu_seconds < 1.0
    assert meter.wall_seconds >= 0.5


def test_a_child_that_ends_inside_the_block_counts() -> None:
    with CpuMeter(poll_seconds=0.05) as meter:
        subprocess.run([sys.executable, "-c", SPEND.format(seconds=0.3)], check=True)
    assert meter.cpu_seconds >= 0.2


def test_grandchildren_count() -> None:
    """As Python workers do, which are children of Java, which is a child of Python."""
    inner = SPEND.format(seconds=0.3)
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    with CpuMeter(poll_seconds=0.05) as meter:
        subprocess.run([sys.executable, "-c", outer], check=True)
    assert meter.cpu_seconds >= 0.2


def test_a_root_that_is_another_process() -> None:
    """It is still there when the block ends, as the Java process that started Python is."""
    spend_and_wait = SPEND.format(seconds=0.3) + "\nprint('spent', flush=True)\ninput()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", spend_and_wait], stdin=pipe, stdout=pipe) as child:
        assert child.stdin
        assert child.stdout
        with CpuMeter(child.pid, poll_seconds=0.05) as meter:
            spend(0.1)
            child.stdout.readline()
        child.stdin.write(b"\n")
        child.stdin.flush()
    assert 0.15 <= meter.cpu_seconds < 1.0
