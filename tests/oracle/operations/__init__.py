"""Operations counted by simulation, beside every Omega: how far the estimates are off.

A count is the combines of a technique per edge, over whole composite slides once all windows are full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice

from optimizer.algebra.techniques import CARDS
from optimizer.cost.omega import Load, omega, omega_with_mean_deque
from optimizer.windows import edge_rate
from optimizer.windows.window import Window
from tests.oracle.operations.schedule import Schedule, schedule

OPERATIONS: dict[str, Callable[[Schedule], Iterator[int]]] = {
    technique: import_module(f"{__name__}.{technique}").operations for technique in CARDS
}


def counted(technique: str, windows: Sequence[Window]) -> float:
    """Operations per edge of a tree of the windows, counted."""
    plan = schedule(windows)
    warm = plan.rounds * len(plan.answers)
    return sum(islice(OPERATIONS[technique](plan), warm, None)) / warm


def estimated(technique: str, windows: Sequence[Window], corrected: bool = False) -> float:
    """Operations per edge of a tree of the windows, by the formula of Omega, the papers' or the corrected one."""
    formula = omega_with_mean_deque if corrected else omega
    return formula(technique, Load.of(windows), float(edge_rate(windows)))


def omega_error(technique: str, windows: Sequence[Window], corrected: bool = False) -> float:
    """By what share of the counted operations Omega is off: positive when it says too many."""
    exact = counted(technique, windows)
    return (estimated(technique, windows, corrected) - exact) / max(exact, 1.0)
