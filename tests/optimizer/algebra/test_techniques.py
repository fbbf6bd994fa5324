"""One table of techniques: whatever else there is of a technique is in the place that its name says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from jobs.kernels import KERNELS
from optimizer.algebra.techniques import BLOCK, CARDS, DEFAULT_TECHNIQUE, require_allowed
from optimizer.cost.omega import FORMULAS, OMEGA
from optimizer.errors import HeddleError
from optimizer.planning.choices import TECHNIQUE
from optimizer.strategies import STRATEGIES
from tests.oracle.operations import OPERATIONS
from tests.oracle.operations.bounds import BOUNDS

ROOT = Path(__file__).parents[3]


def lists_of(file: Path) -> dict[str, Any]:
    """The literal lists of a module, read without importing it: Airflow takes seconds to load."""
    assignments = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
    lists = [node for node in assignments if isinstance(node.value, ast.List)]
    return {node.targets[0].id: ast.literal_eval(node.value) for node in lists if isinstance(node.targets[0], ast.Name)}


def test_everything_of_a_technique_is_found_by_its_name() -> None:
    assert list(CARDS) == list(OMEGA) == list(KERNELS) == list(OPERATIONS)
    assert set(BOUNDS) == set(CARDS)
    assert {card.omega for card in CARDS.values()} == set(FORMULAS)
    assert DEFAULT_TECHNIQUE in CARDS
    assert TECHNIQUE == DEFAULT_TECHNIQUE


def test_the_forms_offer_every_technique_and_strategy_the_default_first() -> None:
    forms = lists_of(ROOT / "dags" / "forms.py")
    assert sorted(forms["TECHNIQUES"]) == sorted(CARDS)
    assert forms["TECHNIQUES"][0] == DEFAULT_TECHNIQUE
    assert sorted(forms["STRATEGIES"]) == sorted(STRATEGIES)


def test_a_refusal_says_what_the_technique_lacks_and_what_to_use() -> None:
    require_allowed(BLOCK, "registers")
    with pytest.raises(HeddleError, match=f"registers grows with the values of a slice; use {BLOCK}, or auto"):
        require_allowed("panes", "registers")
    with pytest.raises(HeddleError, match=r"invertible, and max is not; use one of panes, .*, or auto"):
        require_allowed("slick_deque_inv", "max")
