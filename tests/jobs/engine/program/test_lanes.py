"""A plan split by lanes: which queries go where, and the same answers as of the whole plan."""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.events.file_types import exact_types, file_types
from jobs.engine.events.parquet import Split
from jobs.engine.feed.task import feed_splits
from jobs.engine.finals.task import run_bucket
from jobs.engine.program.compile import compile_program
from jobs.engine.program.program import Program
from jobs.engine.program.queries import FRAME_PART, of_lane, queries_for_spark
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest
from jobs.engine.work import Executor, Outcome, Work
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.windows.window import Window
from tests.jobs.engine.questions import Question, questions
from tests.jobs.engine.runs import Answers, answers_in, run_in_process
from tests.jobs.engine.shard_plans import CHEAP, DEAR, Imagined
from tests.worlds.streams import SECOND, Arrival, arrivals, odd_row
from tests.worlds.warehouse import STREAM, World, make_world, query

QUICKLY = settings(deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
WINDOWS = [Window(2 * SECOND, 2 * SECOND), Window(6 * SECOND, 2 * SECOND), Window(12 * SECOND, 6 * SECOND)]
NESTED: list[tuple[str, ...]] = [(), ("k",), ("i", "k"), ("b",)]


def both_lanes(splits: list[Split]) -> Executor:
    """Feed every lane's own trees apart, as on Spark; one lane counts the events."""

    def execute(program: Program, work: Work) -> Outcome:
        outcome, contents = Outcome(), dict[int, list[bytes]]()
        for lane, counts in (("file", True), ("frame", False)):
            part = of_lane(program, lane)  # type: ignore[arg-type]  # mypy widens the tuple
            report, parcels = feed_splits(part, replace(work, counts=counts, finds_late=False), splits)
            outcome.feeds.append(report)
            for parcel in parcels:
                contents.setdefault(parcel.bucket, []).append(parcel.content)
        finals = work.with_latest(outcome.latest)
        outcome.buckets = [run_bucket(program, finals, n, contents.get(n, [])) for n in range(work.buckets)]
        return outcome

    return execute


def run_split(world: World, plan: Plan, frame: set[str]) -> tuple[Program, Manifest]:
    """Every file is a batch, fed by both lanes; the last manifest."""
    types = file_types(world.catalog, plan, str(world.files[0]))
    program = compile_program(world.catalog, plan, types, frame)
    storage = stream_storage(str(world.folder / "split"), STREAM)
    manifest = replace(Manifest(), buckets=2)
    for number, file in enumerate(world.files):
        splits = [Split(str(file), file.stat().st_size)]
        manifest = run_batch(storage, manifest, program, number, both_lanes(splits))
    return program, close(storage, manifest, program, both_lanes([]))


def in_order(answers: Answers) -> dict[str, list[str]]:
    """All rows as texts, since NaN is not equal to itself."""
    return {id: sorted(map(repr, rows.items())) for id, rows in answers.items()}


@settings(QUICKLY, max_examples=12)
@given(
    asked=st.lists(st.tuples(questions(), st.sampled_from(WINDOWS), st.sampled_from(NESTED)), min_size=2, max_size=8),
    arrival=arrivals(),
    strategy=st.sampled_from(["shared", "weave_share", "cascade"]),
    shards=st.sampled_from([CHEAP, DEAR]),
    seed=st.integers(0, 1000),
)
def test_split_trees_answer_alike(
    asked: list[tuple[Question, Window, tuple[str, ...]]], arrival: Arrival, strategy: str, shards: float, seed: int
) -> None:
    named = {f"q{n}": replace(q, window=window, group_by=keys) for n, (q, window, keys) in enumerate(asked)}
    frame = {id for id in named if random.Random(f"{seed} {id}").random() < 0.5}
    folder = Path(tempfile.mkdtemp())
    try:
        entries = [question.entry(id) for id, question in named.items()]
        world = make_world(folder, arrival.batches, entries, arrival.lateness)
        plan = plan_stream(world.catalog, STREAM, 1000.0, strategy, recent=Imagined(shards), technique="auto")
        storage, manifests = run_in_process(world, plan, buckets=2)
        program, manifest = run_split(world, plan, frame)
        lanes = {query.id: tree.lane for g in program.groupings for tree in g.trees for query in tree.queries}
        assert lanes == {id: "frame" if id in frame else "file" for id in named}
        ours = answers_in(world, stream_storage(str(folder / "split"), STREAM), manifest, plan)
        assert in_order(ours) == in_order(answers_in(world, storage, manifests[-1], plan))
        assert manifest.latest == manifests[-1].latest
    finally:
        shutil.rmtree(folder)


def test_a_tree_is_split_by_the_lanes_of_its_queries(tmp_path: Path) -> None:
    entries = [query("a", "sum(i)", 2 * SECOND), query("b", "sum(n)", 4 * SECOND), query("c", "max(i)", 4 * SECOND)]
    world = make_world(tmp_path, [[odd_row(0, 1)]], entries, 0)
    plan = world.plan("shared")
    types = file_types(world.catalog, plan, str(world.files[0]))
    (whole,) = [tree for _, tree in compile_program(world.catalog, plan, types).roots()]
    program = compile_program(world.catalog, plan, types, {"b"})
    files, frame = (tree for _, tree in program.roots())
    assert (files.id, frame.id) == (whole.id, whole.id + FRAME_PART)
    assert files.edges == frame.edges == whole.edges
    assert [item.sql for item in of_lane(program, "file").values] == ["i"]
    assert [item.sql for item in of_lane(program, "frame").values] == ["n"]
    (all_by_spark,) = [tree for _, tree in compile_program(world.catalog, plan, types, {"a", "b", "c"}).roots()]
    assert (all_by_spark.id, all_by_spark.lane) == (whole.id, "frame")


def test_the_reason_names_the_expression(tmp_path: Path) -> None:
    entries = [
        query("plain", "sum(n)", SECOND),
        query("where", "count(*)", SECOND, where="sin(n) > 0"),  # its last digit is Java's, and decides
        query("key", "max(n)", SECOND, group_by=["d"]),
    ]
    world = make_world(tmp_path, [[odd_row(0, 1)]], entries, 0)
    plan = world.plan("shared")
    reasons = exact_types(world.catalog, plan, str(world.files[0])).reasons
    assert "last digit" in reasons["sin(n) > 0"]
    assert queries_for_spark(world.catalog, plan, {**reasons, "d": "d is odd"}) == {
        "where": reasons["sin(n) > 0"],
        "key": "d is odd",
    }
    assert queries_for_spark(world.catalog, plan, {}) == {}
