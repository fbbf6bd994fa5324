"""Cards are complete, and every component has an operator."""

from __future__ import annotations

from dataclasses import fields

from jobs.kernels.algebra.operators import OPS
from optimizer.algebra.aggregates import COMPONENTS
from optimizer.algebra.techniques import CARDS, Card


def test_every_card_is_complete() -> None:
    for card in CARDS.values():
        assert all(getattr(card, field.name) != "" for field in fields(Card)), card.name


def test_every_component_has_an_operator() -> None:
    folded = {name for name, component in COMPONENTS.items() if not component.tally}  # a tally is merged, not folded
    assert {component for component, _ in OPS} == folded
