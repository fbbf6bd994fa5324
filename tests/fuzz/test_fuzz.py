"""Some random cases at every run of the tests, always the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq

from optimizer.windows.window import Window
from tests.fuzz.__main__ import try_cases, write_reproduction
from tests.fuzz.against_itself import check_case as check_itself
from tests.fuzz.case import Case, Planned, cases, odd_names
from tests.fuzz.coverage import Coverage
from tests.fuzz.draw_case import draw_case
from tests.jobs.engine.row_questions import RowQuestion
from tests.worlds.streams import Arrival, odd_row


def test_cases() -> None:
    coverage = Coverage()
    assert try_cases(50, 1, coverage) is None
    sys.stdout.write(f"{coverage.summary()}\n")
    assert coverage.cases == 50
    assert len(coverage.pairs) > 1000


def test_how_a_case_is_evaluated_is_not_seen_in_its_answers() -> None:
    drawn = [draw_case(seed) for seed in range(40) if draw_case(seed).layout.format == "parquet"]
    told = [case for case in drawn if case.evaluation.kills or case.evaluation.sinks][:6]
    assert sum(map(check_itself, told)) > 100


def test_a_case_can_be_written_down_and_run_again(tmp_path: Path) -> None:
    case = cases().example()
    write_reproduction(case, tmp_path / "case")
    files = sorted((tmp_path / "case" / "data").glob("*.parquet"))
    assert sum(pq.read_table(file).num_rows for file in files) == len(case.arrival.events)
    assert "heddle check" in (tmp_path / "case" / "README").read_text()
    assert len({name.lower() for name in odd_names(7).values()}) == len(odd_names(7))


def test_rows_are_counted_on_where_a_plan_begins_to_share_predicates(tmp_path: Path) -> None:
    """Rows are kept one by one: a plan that would keep them by the predicates they pass keeps them as they were."""
    window = Window(1, 1, rows=True)
    asked = tuple(RowQuestion("count", "*", "", where, (), window) for where in ("", "b"))
    arrival = Arrival([[odd_row(0, 5)], [odd_row(0, 6)]], 0)
    plans = (Planned("no_share", "pairs", False), Planned("no_share", "pairs", True))
    case = Case(arrival, asked, {}, "auto", plans, 1, 1)
    case.check(case.evaluate(case.write(tmp_path)))
