"""Plans run as planned: a tree that another tree feeds folds that tree's partials, and only roots see events."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.engine.feed import task as feeding
from jobs.engine.feed.task import fold_events
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.warehouse.state_files import load_retained
from jobs.kernels.slices.edges import edges_between, slice_starts
from optimizer.plan.definition import EVENTS, Plan
from tests.jobs.engine.questions import check
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.whole.against_spark.test_against_spark import LATENESS, Question, Window, some_batches, until
from tests.worlds.streams import SECOND, Row
from tests.worlds.warehouse import World, make_world

PAIRS = [(20, 2), (30, 3), (35, 5), (42, 7), (40, 4), (60, 20), (9, 4)]
SELECTED = [("max", "s"), ("max", "s"), ("max", "s"), ("last", "k"), ("max", "s"), ("max", "s"), ("last", "k")]


def asked_of(group_by: tuple[str, ...]) -> dict[str, Question]:
    return {
        f"q{number}{len(group_by)}": Question(name, x, "", "", group_by, Window(r * SECOND, s * SECOND))
        for number, ((r, s), (name, x)) in enumerate(zip(PAIRS, SELECTED, strict=True))
    }


@pytest.fixture(scope="module")
def batches() -> list[list[Row]]:
    return some_batches(9)


@pytest.fixture
def asked() -> dict[str, Question]:
    return {**asked_of(("k",)), **asked_of(())}


@pytest.fixture
def world(tmp_path: Path, batches: list[list[Row]], asked: dict[str, Question]) -> World:
    return make_world(tmp_path, batches, [question.entry(id) for id, question in asked.items()], LATENESS)


def partials(manifests: list[Manifest], tree: str) -> int:
    return sum(manifest.counts["partials"].get(tree, 0) for manifest in manifests)


@pytest.mark.parametrize("strategy", ["tri_weave", "factor_windows", "cascade"])
def test_fed_trees_fold_partials(
    monkeypatch: pytest.MonkeyPatch, world: World, batches: list[list[Row]], asked: dict[str, Question], strategy: str
) -> None:
    plan = world.plan(strategy, "panes", rate=1000.0)
    children = [tree for tree in plan.trees if tree.feed != EVENTS]
    assert children, "the plan has no tree that another feeds"
    fed: list[str] = []

    def watched(*arguments: object) -> object:
        fed.append(arguments[1].tree.id)  # type: ignore[attr-defined]
        return fold_events(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(feeding, "fold_events", watched)
    storage, manifests = run_in_process(world, plan)
    roots = {tree.id for tree in plan.trees if tree.feed == EVENTS}
    tables_read = sum(1 for batch in batches if batch)
    assert sorted(fed) == sorted(root for root in roots for _ in range(tables_read))
    events = [row for batch in batches for row in batch]
    check(asked, events, until(batches), answers_in(world, storage, manifests[-1], plan))
    for tree in children:
        assert 0 < partials(manifests, tree.id) <= partials(manifests, tree.feed)
        assert sum(manifest.counts["operations"].get(tree.id, 0) for manifest in manifests) > 0


def test_the_edges_of_a_fed_tree_are_edges_of_its_feeder(world: World) -> None:
    program = world.program(world.plan("cascade", "panes", rate=1000.0))
    for grouping in program.groupings:
        trees = {tree.id: tree for tree in grouping.trees}
        for tree in grouping.trees:
            if tree.feed != EVENTS:
                feeder = trees[tree.feed]
                assert list(trees).index(feeder.id) < list(trees).index(tree.id)
                assert feeder.reach >= tree.reach
                assert {m.key for m in tree.measures} <= {m.key for m in feeder.measures}
                laid_out = edges_between(tree.edges, 0, 120 * SECOND)
                assert (slice_starts(feeder.edges, laid_out) == laid_out).all()


def test_two_trees_with_equal_edges(world: World, batches: list[list[Row]], asked: dict[str, Question]) -> None:
    plan = world.plan("no_share")
    edges = [tree.edges() for tree in plan.trees]
    assert len(set(edges)) < len(edges)
    storage, manifests = run_in_process(world, plan, buckets=2)
    events = [row for batch in batches for row in batch]
    check(asked, events, until(batches), answers_in(world, storage, manifests[-1], plan))


def test_a_plan_from_its_text_runs_the_same(world: World) -> None:
    plan = world.plan("tri_weave")
    again = Plan.from_json(plan.to_json())
    assert again.fingerprint() == plan.fingerprint()
    runs = [run_in_process(world, p, warehouse=name) for p, name in ((plan, "one"), (again, "two"))]
    first, second = ((storage, manifests[-1]) for storage, manifests in runs)
    answers = [answers_in(world, storage, manifest, plan) for storage, manifest in (first, second)]
    assert repr(answers[0]) == repr(answers[1])  # bit for bit, NaN by NaN
    assert json.dumps(first[1].counts["partials"]) == json.dumps(second[1].counts["partials"])
    assert load_retained(first[0], first[1].standing) == load_retained(second[0], second[1].standing)
    unnamed = [replace(m, results=(), state=(), late=(), standing="", counts={}) for _, m in (first, second)]
    assert unnamed[0] == unnamed[1]
