"""Holds a whole case against itself: by the plainest plan, at once, with nothing that dies, the rows are the same.

No other engine is asked, so that thousands of cases take minutes: how a stream is cut, planned, killed and delivered
must not be seen in its answers. What the answers are is the matter of the other oracles."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from optimizer.errors import HeddleError
from tests.fuzz.against_spark import SPREADS, SUMS, Wrong
from tests.fuzz.deliveries import alerts_of, check_sinks
from tests.fuzz.whole_case import Evaluation, WholeCase

PLAIN = Evaluation("local", ("no_share",), "auto", "pairs", False, 0, 1)
HUGE = 1e14  # floats beyond it cancel as they like
Rows = dict[str, Mapping[str, Any]]  # by their keys and window


def check_case(case: WholeCase) -> int:
    """Evaluate a case twice in one process; raise Wrong where rows differ, or return how many there are.

    Statements that need Spark are left out."""
    case = replace(case, is_sql=False, evaluation=replace(case.evaluation, lane="local", ways=()))
    plain = replace(case, evaluation=PLAIN)
    asked = {id: statement for id, statement in case.statements.items() if _may_ask(plain, id)}
    if not asked:
        return 0
    unwatched = {id: replace(statement, alert="") for id, statement in asked.items()}
    expected, _ = _answers(replace(plain, statements=unwatched))
    case = replace(case, statements=asked)
    try:
        rows, alerts = _answers(case)
    except HeddleError as error:
        if not str(error).startswith("technique "):
            raise
        rows, alerts = _answers(replace(case, evaluation=replace(case.evaluation, technique="auto")))
    for id, there in expected.items():
        _compare(id, rows[id], there, case)
        raised = alerts.get(id, [])
        if len(raised) > len(set(raised)):
            raise Wrong(f"{id}: an alert is raised twice; {asked[id].sql}")
    return sum(map(len, expected.values()))


def _may_ask(case: WholeCase, id: str) -> bool:
    """Whether one process answers a statement, and delivers what passes its conditions."""
    try:
        _answers(replace(case, statements={id: case.statements[id]}))
    except HeddleError:
        return False
    return True


def _answers(case: WholeCase) -> tuple[dict[str, Rows], Mapping[str, list[str]]]:
    """Return the rows of every statement, and the rows that raised an alert."""
    folder = Path(tempfile.mkdtemp())
    try:
        case.write(folder)
        catalog = case.run(folder, None)
        answers = {}
        for id, statement in case.statements.items():
            rows = case.answers(folder, catalog, id).to_pylist()
            answers[id] = {_place(row, statement.keys): row for row in rows}
            if len(answers[id]) < len(rows):
                raise Wrong(f"{id}: a key has two rows in a window; {statement.sql}")
        check_sinks(catalog, folder, case.evaluation.sinks, list(case.statements))
        return answers, alerts_of(folder) if case.delivers else {}
    finally:
        shutil.rmtree(folder)


def _place(row: Mapping[str, Any], keys: int) -> str:
    values = [row[f"g{number}"] for number in range(keys)]
    return repr([0.0 if isinstance(value, float) and value == 0 else value for value in values] + [row["w"]])


def _compare(id: str, here: Rows, there: Rows, case: WholeCase) -> None:
    statement = case.statements[id]
    if here.keys() != there.keys():
        only = sorted(here.keys() - there.keys())[:3], sorted(there.keys() - here.keys())[:3]
        raise Wrong(f"{id}: rows only here {only[0]}, only by the plain plan {only[1]}; {statement.sql}")
    for place, row in there.items():
        for number, (name, _, _) in enumerate(statement.aggregates):
            ours, plain = here[place][f"c{number}"], row[f"c{number}"]
            if not _agree(name, ours, plain):
                raise Wrong(f"{id}: {name} at {place} is {ours!r} here, {plain!r} by the plain plan; {statement.sql}")


def _agree(name: str, ours: Any, plain: Any) -> bool:
    if isinstance(ours, list) and isinstance(plain, list):
        return len(ours) == len(plain) and all(_agree(name, *pair) for pair in zip(ours, plain, strict=True))
    if isinstance(ours, float) and isinstance(plain, float) and ours != plain:
        if math.isnan(ours) and math.isnan(plain):
            return True
        is_added = name in SUMS | SPREADS
        if not math.isfinite(ours + plain) or max(abs(ours), abs(plain)) > HUGE:
            return is_added  # the order of adding decides whether it overflows
        return is_added and math.isclose(ours, plain, rel_tol=1e-6, abs_tol=1e-6)
    return bool(ours == plain) and type(ours) is type(plain)
