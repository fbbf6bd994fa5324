"""One strategy, one file, one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import optimizer.strategies
from optimizer.cost.omega import OMEGA, Load, omega
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import make_problem
from optimizer.strategies.contract.units import CostModel, Pricing, Units, bits
from optimizer.strategies.search.subset_dp import subset_table
from optimizer.windows.window import WindowSet
from tests.optimizer.strategies.instances import instance

FOLDER = Path(optimizer.strategies.__file__).parent


def test_every_strategy_has_its_file_and_its_line() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")}
    for name, card in STRATEGIES.items():
        assert name == card.name == card.run.__name__
        assert name in files
        assert f"def {name}(problem: Problem" in (FOLDER / f"{name}.py").read_text()
    defined = {path.stem for path in FOLDER.glob("*.py") if f"def {path.stem}(problem: Problem" in path.read_text()}
    assert defined == set(STRATEGIES)


@pytest.mark.parametrize("technique", OMEGA)
def test_searches_price_as_omega_of_one_tree_does(technique: str) -> None:
    for seed in range(3):
        windows, rate = instance(seed, 12)
        problem = make_problem(WindowSet.of(windows)).problem
        for units in (Units.classes(problem), Units.windows(problem)):
            pricing = Pricing(units, CostModel(rate, ((technique,),)))
            table = subset_table(units, pricing.model)
            for mask in np.random.default_rng(seed).integers(1, 1 << len(units), 20).tolist():
                edge_rate = problem.space.rate_float(units.edge_mask(mask))
                inside = np.isin(units.unit_of, list(bits(mask)))
                expected = edge_rate * omega(technique, Load.of(problem.windows.take(inside)), edge_rate)
                assert pricing.finals(mask) == pytest.approx(expected, rel=1e-9, abs=1e-12)
                assert table.finals[mask] == pytest.approx(expected, rel=1e-9, abs=1e-12)
