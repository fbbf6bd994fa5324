"""What is written down, and what is left out because Spark would gain nothing by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from optimizer.algebra.aggregates import AGGREGATES, COMPONENTS
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from optimizer.rewrite import Script, rewrite, rewrite_streaming
from optimizer.rewrite.partials import FINALS, FINISHED_MOMENTS, PARTIALS
from optimizer.strategies.contract.problem import SearchOptions
from tests.optimizer.rewrite.catalogs import catalog_of


def script_of(folder: Path, windows: list[tuple[int, int]], strategy: str, **more: Any) -> Script:
    queries = [
        {"id": f"q{n}", "stream": "odd", "select": "max(x)", "range": f"{r} seconds", "slide": f"{s} seconds", **more}
        for n, (r, s) in enumerate(windows)
    ]
    catalog = catalog_of(folder, queries)
    return rewrite(catalog, plan_stream(catalog, "odd", 1000.0, strategy, technique="auto"), {})


def test_slices_of_cutty_are_refused(tmp_path: Path) -> None:
    """A window ends within them, and rows of it that no event has would come out."""
    queries = [{"id": "q", "stream": "odd", "select": "max(x)", "range": "2 seconds", "slide": "1500 milliseconds"}]
    catalog = catalog_of(tmp_path, queries)
    plan = plan_stream(catalog, "odd", 1000.0, "shared", technique="auto", options=SearchOptions(slicing="cutty"))
    with pytest.raises(HeddleError, match="cutty"):
        rewrite(catalog, plan, {})
    with pytest.raises(HeddleError, match="cutty"):
        rewrite_streaming(catalog, plan, {})


def test_every_component_has_a_partial() -> None:
    assert PARTIALS.keys() == {name for name, component in COMPONENTS.items() if not component.tally}


def test_every_algebraic_aggregate_is_finished() -> None:
    algebraic = {name for name, aggregate in AGGREGATES.items() if aggregate.kind == "algebraic"}
    assert algebraic == FINALS.keys() | FINISHED_MOMENTS.keys()


def test_a_tumbling_window_alone_stays_as_written(tmp_path: Path) -> None:
    assert script_of(tmp_path, [(10, 10)], "factor_windows").as_written == ("q0",)


def test_a_long_hopping_window_alone_folds_its_own_slices(tmp_path: Path) -> None:
    script = script_of(tmp_path, [(60, 1)], "factor_windows")
    assert not script.as_written
    assert "CACHE" not in script.text


def test_windows_with_equal_slices_read_one_view(tmp_path: Path) -> None:
    script = script_of(tmp_path, [(10, 2), (20, 2), (40, 2)], "factor_windows", select="count(*)")
    assert script.text.count("CREATE OR REPLACE TEMPORARY VIEW odd_t") == 1
    assert script.text.count("CACHE LAZY TABLE") == 1


@pytest.mark.parametrize(
    ("windows", "select", "read"),
    [
        ([(300, 2), (600, 2)], "max(x)", {"q1": "q0"}),
        ([(300, 2), (600, 2), (1200, 4)], "max(x)", {"q1": "q0", "q2": "q1"}),  # of those that cover it, the longest
        ([(300, 2), (600, 2)], "count(*)", {}),  # an event would count twice
        ([(300, 2), (600, 3)], "max(x)", {}),  # not all windows begin where the others do
        ([(4, 2), (6, 2)], "max(x)", {}),  # to keep the windows costs more than it saves
    ],
)
def test_windows_that_others_cover_read_them(
    tmp_path: Path, windows: list[tuple[int, int]], select: str, read: dict[str, str]
) -> None:
    script = script_of(tmp_path, windows, "factor_windows", select=select)
    assert script.text.count("_windows AS") == len(set(read.values()))
    sources = {name: sql.split("FROM ")[1].split()[0] for name, sql in script.answers.items()}
    for name in sources:
        by = name if name in read.values() else read.get(name)
        assert sources[name] == f"odd_{by}_windows" if by else "_windows" not in sources[name]
    for name, by in read.items():
        if name in read.values():
            assert f"FROM odd_{by}_windows" in next(sql for sql in script.views if f"odd_{name}_windows AS" in sql)


@pytest.mark.parametrize("key", ["slice_start", "MAX_1"])
def test_names_keep_clear_of_the_users(tmp_path: Path, key: str) -> None:
    script = script_of(tmp_path, [(10, 2), (20, 2)], "shared", group_by=key)
    free = {"slice_start": "slice_start_", "MAX_1": "max_1_"}[key]
    assert f" AS {free}" in script.text
