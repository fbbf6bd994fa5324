"""Random catalogs, strategies, techniques, cuts and orders of arrival: the engine's rows are the oracle's rows."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jobs.kernels.columns import grid
from optimizer.algebra.techniques import CARDS
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import SearchOptions
from optimizer.windows.window import PAIRS
from tests.jobs.engine.questions import Question, check, questions
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.worlds.streams import Arrival, arrivals
from tests.worlds.warehouse import make_world

# an example runs batches on a disk: to shrink one would take minutes
QUICKLY = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])


def evaluate_and_check(
    asked: list[Question],
    arrival: Arrival,
    strategy: str,
    technique: str,
    buckets: int = 1,
    last: bool = False,
    slicing: str = PAIRS,
) -> None:
    named = {f"q{number}": question for number, question in enumerate(asked)}
    folder = Path(tempfile.mkdtemp())
    try:
        entries = [question.entry(id) for id, question in named.items()]
        world = make_world(folder, arrival.batches, entries, arrival.lateness)
        plan = world.plan(strategy, technique, options=SearchOptions(slicing=slicing))
        storage, manifests = run_in_process(world, plan, buckets, last=last)
        check(named, arrival.events, arrival.until, answers_in(world, storage, manifests[-1], plan))
        assert not manifests[-1].late
        assert sum(manifest.counts["events"] for manifest in manifests) == len(arrival.events)
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(QUICKLY, max_examples=8)
@given(asked=st.lists(questions(), min_size=1, max_size=8), arrival=arrivals(), buckets=st.sampled_from([1, 3]))
def test_strategies(strategy: str, asked: list[Question], arrival: Arrival, buckets: int) -> None:
    evaluate_and_check(asked, arrival, strategy, "auto", buckets, last=buckets == 3)


@pytest.mark.parametrize("technique", CARDS)
@settings(QUICKLY, max_examples=8)
@given(data=st.data(), arrival=arrivals(), strategy=st.sampled_from(["shared", "no_share", "tri_weave", "cascade"]))
def test_techniques(technique: str, data: st.DataObject, arrival: Arrival, strategy: str) -> None:
    asked = data.draw(st.lists(questions(technique), min_size=1, max_size=5))
    evaluate_and_check(asked, arrival, strategy, technique)


@pytest.mark.parametrize("slicing", ["panes", "cutty"])
@settings(QUICKLY, max_examples=12)
@given(
    asked=st.lists(questions(), min_size=1, max_size=6),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "no_share", "tri_weave", "cascade"]),
)
def test_slicings(slicing: str, asked: list[Question], arrival: Arrival, strategy: str) -> None:
    evaluate_and_check(asked, arrival, strategy, "auto", slicing=slicing)


@pytest.mark.slow
@settings(QUICKLY, max_examples=40)
@given(
    asked=st.lists(questions(), min_size=1, max_size=8),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "tri_weave"]),
)
def test_on_grids(asked: list[Question], arrival: Arrival, strategy: str) -> None:
    """As many trees as can be are laid out, few as their slices are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "LONG", 1)
        patch.setattr(grid, "ROOMY", 2000)
        evaluate_and_check(asked, arrival, strategy, "two_stacks_block")
