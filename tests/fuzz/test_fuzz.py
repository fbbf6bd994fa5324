"""Some random cases at every run of the tests, always the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq

from tests.fuzz.__main__ import try_cases, write_reproduction
from tests.fuzz.case import cases, odd_names
from tests.fuzz.coverage import Coverage


def test_cases() -> None:
    coverage = Coverage()
    assert try_cases(50, 1, coverage) is None
    sys.stdout.write(f"{coverage.summary()}\n")
    assert coverage.cases == 50
    assert len(coverage.pairs) > 1000


def test_a_case_can_be_written_down_and_run_again(tmp_path: Path) -> None:
    case = cases().example()
    write_reproduction(case, tmp_path / "case")
    files = sorted((tmp_path / "case" / "data").glob("*.parquet"))
    assert sum(pq.read_table(file).num_rows for file in files) == len(case.arrival.events)
    assert "heddle check" in (tmp_path / "case" / "README").read_text()
    assert len({name.lower() for name in odd_names(7).values()}) == len(odd_names(7))
