"""Calibration: trials of this machine give prices that plans are searched and estimated by."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.measure.machine_prices import load_prices, prices_file, prices_for, save_prices
from jobs.runs.calibrate import Trial, calibrate
from optimizer.errors import HeddleError
from optimizer.plan.prices import Prices
from optimizer.planning.windows import optimize
from optimizer.windows.window import Window

SMALL = (
    Trial(3_000, 10, 5, ((60, 10), (120, 20)), ("sum(value)", "max(value)"), ("shared", "no_share")),
    Trial(2_000, 10, 1, ((47, 7),), ("count(value)",), ("shared",), files=2),
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEDDLE_PRICES", str(tmp_path))


def test_trials_give_prices_of_every_technique() -> None:
    lines: list[str] = []
    prices = calibrate(lines.append, SMALL)
    assert "two_stacks_block" in prices.techniques
    assert "daba" in prices.techniques
    assert all(price >= 0 for price in prices.each.values())
    assert any(prices.each.values())
    assert lines[-1].startswith("calibrating: round 2 of 2")


def test_prices_are_kept_for_this_machine() -> None:
    assert load_prices() is None
    save_prices(Prices({"partial": 1e-8, "final.two_stacks_block": 2e-9}, 0.1))
    assert load_prices() == Prices({"partial": 1e-8, "final.two_stacks_block": 2e-9}, 0.1)
    assert prices_for("operations") is None
    assert prices_for("seconds") is not None
    prices_file().write_text("{}")
    assert load_prices() is None
    with pytest.raises(HeddleError, match="use one of seconds, operations"):
        prices_for("dollars")


def test_roots_that_cost_more_than_levels_are_avoided() -> None:
    """By operations three trees read the events; where reading them is dear, one does."""
    windows = [Window(16, 4), Window(10, 5), Window(9, 3), Window(8, 4)]
    by_operations = optimize(windows, 0.5, "weave_share", "panes")
    dear_events = Prices({"event.cell": 1.0, "partial": 1.0, "slice.made": 1e-3, "level": 1e-3, "final.panes": 1e-3})
    by_seconds = optimize(windows, 0.5, "weave_share", "panes", prices=dear_events)
    assert len(by_operations.trees) > 1
    assert len(by_seconds.trees) == 1
    assert by_seconds.costs.seconds == pytest.approx(by_seconds.costs.shared_seconds)
    assert by_operations.costs.seconds is None
