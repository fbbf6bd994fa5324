"""Many small batches: state as base and deltas, results merged, and still every answer right and only once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from jobs.engine.warehouse.result_files import MERGE_AT
from jobs.engine.warehouse.state_files import MERGE_AT as MERGE_STATE_AT
from tests.jobs.engine.questions import Question, Window, check
from tests.jobs.engine.runs import answers_in, run_in_process
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world

BATCHES = 40
ASKED = {
    "total": Question("sum", "n", "", "", ("k",), Window(60 * SECOND, 4 * SECOND)),
    "text": Question("max", "s", "", "b", ("k",), Window(9 * SECOND, 4 * SECOND)),
    "last": Question("last", "x", "", "", (), Window(30 * SECOND, 5 * SECOND)),
}


@pytest.mark.parametrize("buckets", [1, 2])
def test_many_batches(tmp_path: Path, buckets: int) -> None:
    pick = random.Random(buckets)
    batches = [[odd_row(n * 3 * SECOND + m, pick.randrange(1 << 20)) for m in range(4)] for n in range(BATCHES)]
    world = make_world(tmp_path, batches, [question.entry(id) for id, question in ASKED.items()], SECOND)
    plan = world.plan("weave_share")
    storage, manifests = run_in_process(world, plan, buckets)
    until = (BATCHES - 1) * 3 * SECOND + 3 - SECOND
    check(ASKED, [row for batch in batches for row in batch], until, answers_in(world, storage, manifests[-1], plan))
    groupings = 2
    for manifest in manifests:
        assert len(manifest.state) <= buckets * 6 * MERGE_STATE_AT
        assert len(manifest.results) <= buckets * groupings * 2 * MERGE_AT
    assert any(file.tier for file in manifests[-1].results)


def test_state_holds_no_more_than_windows_need(tmp_path: Path) -> None:
    batches = [[odd_row(n * 20 * SECOND + m * SECOND, n) for m in range(20)] for n in range(12)]
    world = make_world(tmp_path, batches, [ASKED["text"].entry("text")], 0)
    _, manifests = run_in_process(world, world.plan("shared"))
    rows = [sum(file.rows for file in manifest.state) for manifest in manifests]
    assert max(rows) <= 4 * max(rows[:3])
