"""Names that a user typed: strategies and techniques, checked against the tables and the algebra."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from optimizer.algebra.techniques import CARDS, allowed, require_allowed
from optimizer.cost.omega import OMEGA
from optimizer.errors import HeddleError, did_you_mean
from optimizer.plan.definition import Measure
from optimizer.planning.defaults import TECHNIQUE
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.card import Card

AUTO = "auto"


def strategy_named(name: str) -> Card:
    """The strategy of this name, or one line that says which there are."""
    return STRATEGIES[_check_name("strategy", name, STRATEGIES)]


def techniques_for(name: str, measures: Sequence[Measure]) -> tuple[tuple[str, ...], ...]:
    """Per measure, the techniques that a search may use: the named one, or all that the algebra allows."""
    if name == AUTO:
        return tuple(_allowed(measure.component) for measure in measures)
    _check_name("technique", name, [AUTO, *CARDS])
    for measure in measures:
        if measure.component:
            require_allowed(name, measure.component)
    return ((name,),) * len(measures)


def _allowed(component: str) -> tuple[str, ...]:
    """What the algebra allows, the block form first; of techniques with one formula, the first stands for all."""
    fitting = [name for name in (TECHNIQUE, *CARDS) if _fits(name, component)]
    return tuple({OMEGA[name]: name for name in reversed(fitting)}.values())[::-1]


def _fits(technique: str, component: str) -> bool:
    return allowed(technique, component) if component else CARDS[technique].needs == "nothing"


def _check_name(kind: str, name: str, names: Collection[str]) -> str:
    """Return the name, or refuse it with the nearest one there is."""
    if name in names:
        return name
    hint = did_you_mean(name, names, f"use one of {', '.join(names)}")
    raise HeddleError(f"there is no {kind} {name!r}; {hint}")
