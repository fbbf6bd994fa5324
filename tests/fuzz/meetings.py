"""What cases rarely have together unless it is drawn on purpose.

Days and weeks across changes of the clock, odd names of folders, conditions over answers, sinks, deaths, idle streams
and streams made by SQL."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

from jobs.host.stops import ADOPTION_STEPS, DELIVERY_STEPS, DRIVER_STEPS, TASK_STEPS
from jobs.sinks import SINKS
from tests.fuzz.whole_case import WholeCase
from tests.fuzz.write_events import FOLDER_VALUES
from tests.worlds.names import ODD_NAMES
from tests.worlds.streams import SECOND

PACES = (*[1] * 8, 60, 3600, 3600, 86_400)  # how many times as long everything takes: up to windows of weeks
MORE_ZONES = ("Australia/Lord_Howe", "America/New_York", "Pacific/Apia", "Europe/Berlin", "America/Sao_Paulo")
SHIFTS = tuple(  # moments at which clocks are set
    moment * SECOND
    for moment in (1_711_846_800, 1_729_990_800, 1_541_300_400, 1_712_415_600, 1_730_613_600, 1_325_239_200, -1_000_000)
)
INEXACT = ("{c} > 1.37", "{c} <= 41.77", "{c} BETWEEN -3.71 AND 1111.3", "NOT {c} < 0.73", "{c} IS NULL OR {c} > 5.19")
EXACT = (
    *("{c} > 1", "{c} <= 2.5", "{c} * 2 > 7", "{c} / 3 < 0.5", "{c} % 2 = 0", "{c} IN (0, 1, 2.00)", "-{c} < -1"),
    *("abs({c}) >= 1.50", "{c} <> 1 OR {c} IS NULL", "coalesce({c}, -1) < 2", "round({c}, 1) = 1.0", "c0 < 3 = TRUE"),
    *("cast({c} AS DECIMAL(38, 3)) > 1.005", "if({c} > 3, {c} < 100, {c} IS NULL)", "CASE WHEN {c} > 2 THEN true END"),
    *("cast({c} AS STRING) LIKE '1%'", "{c} <=> 1", "{c} + 0.01 > 3.51", "{c} = 1 <=> c0 = 1", "{c} > 1e0"),
)
ANY = ("{c} IS NOT NULL", "{c} IS NULL", "NOT {c} IS NULL AND TRUE", "isnull({c}) = FALSE")
COUNTS = ("count", "approx_count_distinct", "regr_count", "bit_")


def kind_of_answer(name: str, argument: str, decimals: Collection[str]) -> tuple[str, ...]:
    """Return the conditions that may be asked of an aggregate's answers."""
    if name.startswith(COUNTS) or (argument in decimals and name in ("min", "max", "sum", "try_sum", "max_by")):
        return EXACT
    inexact = ("sum", "avg", "try_", "var_", "stddev_", "median")
    return INEXACT if name.startswith(inexact) else ANY


def condition(pick: random.Random, conditions: tuple[str, ...], call: str) -> str:
    """Return a condition over the first answer, which is named by its column or, if there is one, by its aggregate."""
    return pick.choice([*conditions, *ANY]).replace("{c}", pick.choice(["c0", call]) if call else "c0")


def odd_folder_names(pick: random.Random, taken: Collection[str]) -> dict[str, str]:
    """Return what the columns that folders name are called: at times, as columns rarely are."""
    names = {name: name for name in FOLDER_VALUES}
    if pick.random() < 0.4:
        lower = {name.lower() for name in (*taken, *names)}
        usable = [name for name in ODD_NAMES if name.lower() not in lower and not {*"\t`"} & {*name}]
        usable = [name for name in usable if name not in ("window", ".") and not name.startswith(("_", "."))]
        drawn = pick.sample(list({name.lower(): name for name in usable}.values()), len(names))
        names |= {name: odd for name, odd in zip(names, drawn, strict=True) if name != "j"}
    return names


def escape(name: str) -> str:
    """Return a name as Spark writes it into the name of a folder.

    >>> escape("a=b/c d")
    'a%3Db%2Fc d'
    """
    return "".join(f"%{ord(char):02X}" if char in "\"#%'*/:=?\\{[]^\x7f" or char < " " else char for char in name)


def meet_others(case: WholeCase, pick: random.Random) -> WholeCase:
    """Return a case that has more than one stream in a folder has: sinks, deaths, a clock that goes on, SQL."""
    how = case.evaluation
    if pick.random() < 0.25 or any(statement.alert for statement in case.statements.values()):
        how = replace(how, sinks=tuple(sorted(pick.sample(list(SINKS), pick.choice([1, 1, 2])))))
    if how.lane == "local" and pick.random() < 0.3:
        steps = (*DRIVER_STEPS, *TASK_STEPS, *ADOPTION_STEPS, *(DELIVERY_STEPS if how.sinks else ()))
        how = replace(how, kills=tuple(pick.sample(steps, pick.choice([1, 1, 2]))))
    case = replace(case, evaluation=how)
    if pick.random() < 0.1 and (case.corrections or len(how.strategies) == 1):
        forever = 36_500 * 86_400 * SECOND  # whatever comes later corrects windows that the clock has ended
        return replace(case, is_idle=True, corrections=case.corrections and forever)
    if pick.random() < 0.04 and not case.layout.options:
        return replace(case, is_sql=True)
    return case
