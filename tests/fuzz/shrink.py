"""Makes a wrong case small: leaves out statements, files, events, plans and options for as long as it stays wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.whole_case import WholeCase


def shrink_case(case: WholeCase, is_wrong: Callable[[WholeCase], bool], most_tries: int = 60) -> WholeCase:
    """Return the smallest wrong case that some tries lead to."""
    tries = 0
    while True:
        for smaller in smaller_cases(case):
            tries += 1
            if tries > most_tries:
                return case
            if is_wrong(smaller):
                case = smaller
                break
        else:
            return case


def smaller_cases(case: WholeCase) -> Iterator[WholeCase]:
    """Yield cases that lack something, those that lack most first."""
    for id in case.statements:
        if len(case.statements) > 1:
            yield replace(case, statements={id: case.statements[id]})
    if len(case.evaluation.strategies) > 1:
        yield replace(case, evaluation=replace(case.evaluation, strategies=case.evaluation.strategies[-1:]))
    for place in range(len(case.batches)):
        if len(case.batches) > 1:
            files = case.layout.files[:place] + case.layout.files[place + 1 :]
            batches = case.batches[:place] + case.batches[place + 1 :]
            yield replace(case, batches=batches, layout=replace(case.layout, files=files))
    for place, rows in enumerate(case.batches):
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            if len(half) < len(rows):
                yield replace(case, batches=(*case.batches[:place], half, *case.batches[place + 1 :]))
    for option in case.layout.options:
        options = {name: value for name, value in case.layout.options.items() if name != option}
        yield replace(case, layout=replace(case.layout, options=options))
    if case.evaluation.lane != "local":
        yield replace(case, evaluation=replace(case.evaluation, lane="local"))
