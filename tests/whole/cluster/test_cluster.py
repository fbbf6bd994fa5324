"""The job on a standalone cluster of two workers gives the answers of the engine alone."""

from __future__ import annotations

import json
from pathlib import Path

from tests.whole.cluster.standalone import cluster, submit
from tests.whole.faults import local_runs
from tests.worlds.readings import EVENTS, STREAM, assert_same, make_world

JOB = Path(__file__).parents[3] / "jobs" / "evaluate.py"


def test_two_workers(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    world.arrive(0, 1, 2)
    (tmp_path / "plan.json").write_text(world.plan.to_json())
    with cluster(tmp_path) as url:
        arguments = ["--stream", STREAM, "--warehouse", world.warehouse("cluster"), "--files-per-batch", "1"]
        done = submit(url, str(JOB), str(tmp_path / "catalog"), *arguments, "--plan", str(tmp_path / "plan.json"))
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert (report["batches"], report["events"], report["lane"]) == (3, 3 * EVENTS, "file")
    local_runs.evaluate(world, world.warehouse("alone"))
    assert_same(world, world.warehouse("cluster"), world.warehouse("alone"))
