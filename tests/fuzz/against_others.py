"""Random cases judged by DuckDB and by polars: what Spark and Heddle could both get wrong alike is seen by neither."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.case import Case, cases, drawn
from tests.jobs.engine.questions import Question, questions
from tests.oracle.other_engines import DUCKDB, POLARS, ask_duckdb, ask_polars, check_answers, may_ask
from tests.worlds.streams import Arrival, arrivals

ENGINES = {"DuckDB": (ask_duckdb, DUCKDB), "polars": (ask_polars, POLARS)}


def is_plain(question: Question) -> bool:
    """Whether DuckDB may be asked."""
    return may_ask(question, DUCKDB)


def try_cases(number: int, seed_number: int) -> dict[str, int]:
    """Try so many cases; raise the first that is wrong, made small, or return how many rows every engine confirmed."""
    confirmed = dict.fromkeys(ENGINES, 0)
    plain = st.lists(questions("auto", tuple(DUCKDB)).filter(is_plain), min_size=3, max_size=6)

    @drawn(number, seed_number)
    @given(cases(), arrivals(least=20), plain)
    def attempt(case: Case, arrival: Arrival, asked: list[Question]) -> None:
        plain_case = replace(
            case, arrival=arrival, asked=tuple(asked), technique="auto", plans=case.plans[:1], clock=""
        )
        for name, rows in compare(plain_case).items():
            confirmed[name] += rows

    attempt()
    return confirmed


def compare(case: Case) -> dict[str, int]:
    """Evaluate a case, and hold it against every engine that means what it asks; return the rows compared."""
    confirmed = dict.fromkeys(ENGINES, 0)
    until = case.arrival.until
    if until is None:
        return confirmed
    folder = Path(tempfile.mkdtemp())
    try:
        answers = case.evaluate(case.write(folder))
    finally:
        shutil.rmtree(folder)
    for number, question in enumerate(case.asked):
        for name, (ask, means) in ENGINES.items():
            if may_ask(question, means):
                theirs = ask(question, case.arrival.events, until)
                confirmed[name] += check_answers(question, answers[f"q{number}"], theirs, case.arrival.events)
    return confirmed
