"""Cards are complete, and docs/kernels.md is what they say."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import jobs.kernels
from jobs.kernels.algebra.operators import OPS
from optimizer.algebra.aggregates import COMPONENTS
from optimizer.algebra.techniques import CARDS, Card
from tools.pages.kernels import page

DOCS = Path(jobs.kernels.__file__).parents[2] / "docs" / "kernels.md"


def test_page_is_current() -> None:
    assert DOCS.read_text() == page(), "run: python -m jobs.kernels.cards > docs/kernels.md"


def test_every_card_is_complete() -> None:
    for card in CARDS.values():
        assert all(getattr(card, field.name) != "" for field in fields(Card)), card.name


def test_every_component_has_an_operator() -> None:
    assert {component for component, _ in OPS} == set(COMPONENTS)
