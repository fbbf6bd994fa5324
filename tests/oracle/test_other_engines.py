"""Some random cases at every run of the tests, judged by DuckDB and polars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from optimizer.windows.window import Window
from tests.fuzz.against_others import try_cases
from tests.jobs.engine.questions import Question
from tests.oracle.other_engines import Place, ask_duckdb, ask_polars, check_answers
from tests.worlds.streams import SECOND, odd_row


@pytest.mark.slow
def test_other_engines_give_the_same_rows() -> None:
    confirmed = try_cases(15, 7)
    assert min(confirmed.values()) > 100, confirmed


@pytest.mark.parametrize("ask", [ask_duckdb, ask_polars])
def test_a_wrong_row_is_found(ask: Callable[..., dict[Place, Any]]) -> None:
    rows = [{**odd_row(second * SECOND, 3), "n": second, "k": "a"} for second in range(6)]
    question = Question("sum", "n", "", "", ("k",), Window(2 * SECOND, SECOND))
    theirs = ask(question, rows, 5 * SECOND)
    assert theirs == {(("a",), start * SECOND): 2 * start + 1 if start >= 0 else 0 for start in range(-1, 4)}
    assert check_answers(question, theirs, theirs, rows) == len(theirs)
    with pytest.raises(AssertionError):
        check_answers(question, {**theirs, (("a",), 0): 7}, theirs, rows)
    with pytest.raises(AssertionError):
        check_answers(question, dict(list(theirs.items())[1:]), theirs, rows)
