"""Strategy, technique and rate of a plan: the names that a user typed, checked, or the defaults.

Every command and `optimize` read these defaults, so that `heddle plan` shows what `heddle evaluate` runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from optimizer.algebra.techniques import CARDS, DEFAULT_TECHNIQUE, allowed, require_allowed
from optimizer.cost.omega import OMEGA
from optimizer.errors import HeddleError, did_you_mean
from optimizer.plan.definition import Measure
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.strategy import Card

STRATEGY = "cascade"
TECHNIQUE = DEFAULT_TECHNIQUE
ASSUMED_RATE = 1000.0  # events per second of a stream whose files do not tell
COMPARED_STRATEGIES = ("no_share", "weave_share", STRATEGY)  # side by side in `heddle compare`
STRATEGY_NAMES = tuple(STRATEGIES)
REPLANNED_STRATEGIES = (STRATEGY, "weave_share", "tri_weave", "shared")  # the nightly replan takes the best of them
AUTO = "auto"


def find_strategy(name: str) -> Card:
    """Return the strategy of this name; refuse, in one line, a name that there is not.

    >>> find_strategy("weave_share").full_name
    'Weave Share'
    >>> find_strategy("weaveshare")
    Traceback (most recent call last):
    optimizer.errors.HeddleError: there is no strategy 'weaveshare'; did you mean weave_share?
    """
    return STRATEGIES[_check_name("strategy", name, STRATEGIES)]


def techniques_for(name: str, measures: Sequence[Measure]) -> tuple[tuple[str, ...], ...]:
    """Return, per measure, the techniques that a search may use: the named one, or all that the algebra allows.

    >>> techniques_for("daba", [Measure("max", ("x",)), Measure("sum", ("x",))])
    (('daba',), ('daba',))
    >>> techniques_for("auto", [Measure("max", ("x",))])
    (('panes', 'flat_fat', 'daba', 'slick_deque_noninv', 'two_stacks_block'),)
    """
    if name == AUTO:
        return tuple(_allowed_techniques(measure.component) for measure in measures)
    _check_name("technique", name, [AUTO, *CARDS])
    for measure in measures:
        if measure.component:
            require_allowed(name, measure.component)
    return ((name,),) * len(measures)


def _allowed_techniques(component: str) -> tuple[str, ...]:
    """Return what the algebra allows, the default first; of techniques with one formula, the first stands for all."""
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
