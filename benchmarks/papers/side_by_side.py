"""Experiments that count and do not time, a process for every core: what is counted does not depend on the load."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from benchmarks.evidence.figure import Progress

Result = TypeVar("Result")
Task = tuple[Callable[..., Result], tuple[object, ...]]  # what to call, with what


def run_side_by_side(tasks: Mapping[str, Task[Result]], progress: Progress) -> list[Result]:
    """Return what each task returns, in their order; say which has ended.

    >>> run_side_by_side({"two": (abs, (-2,)), "three": (abs, (-3,))}, lambda text: None)
    [2, 3]
    """
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        futures = {name: pool.submit(function, *arguments) for name, (function, arguments) in tasks.items()}
        for name, future in futures.items():
            future.add_done_callback(lambda _, name=name: progress(f"{name}: done"))
        return [future.result() for future in futures.values()]
