"""Events and warehouse on S3 and on HDFS: the rows of a local disk, whatever fails, is slow, dies or runs at once."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.engine.warehouse.lifecycle import list_data, stream_storage, sweep
from jobs.engine.warehouse.manifest import Manifest, commit, newest
from jobs.host.stops import DRIVER_STEPS, TASK_STEPS
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from tests.whole.faults.local_runs import evaluate, start_apart
from tests.worlds import readings
from tests.worlds.bucket import bucket_server
from tests.worlds.name_node import name_node
from tests.worlds.readings import STREAM, Readings, published
from tests.worlds.store import Store

FILES = range(5)
STORES: dict[str, Callable[..., AbstractContextManager[Store]]] = {"s3": bucket_server, "hdfs": name_node}
KINDS = ["s3", pytest.param("hdfs", marks=pytest.mark.long)]  # waiting for HDFS takes minutes


@pytest.fixture(scope="module", params=KINDS)
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store that does its work at once."""
    with STORES[request.param]() as store:
        yield store


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Readings, str]:
    """The same events on a local disk, evaluated in peace."""
    world = readings.make_world(tmp_path_factory.mktemp("local"))
    world.arrive(*FILES)
    evaluate(world, world.warehouse("reference"))
    return world, world.warehouse("reference")


def assert_same_rows(world: Readings, warehouse: str, reference: tuple[Readings, str]) -> None:
    """The rows of the reference, bit for bit, and the same late events."""
    here, there = published(world, warehouse), published(*reference)
    for name, table in there.items():
        assert table.num_rows
        assert here[name].equals(table), name


def test_what_is_there_is_not_created_again(store: Store) -> None:
    storage = Storage(store.place("creation"))
    assert storage.create("a/b", b"one")
    assert not storage.create("a/b", b"two")
    assert not storage.create("a/b", b"one")
    assert storage.read("a/b") == b"one"
    assert list(storage.names("a")) == ["a/b"]
    assert not list(storage.drafts("a"))
    assert not list(storage.names("a", before=0))
    assert not list(storage.names("nowhere"))


def test_rows(tmp_path: Path, store: Store, reference: tuple[Readings, str]) -> None:
    world, warehouse = store.make_world(tmp_path, "rows"), store.place("rows", "warehouse")
    store.arrive("rows", *FILES)
    evaluate(world, warehouse)
    assert_same_rows(world, warehouse, reference)
    readings.assert_swept(warehouse)
    evaluate(world, warehouse)  # nothing has come
    assert_same_rows(world, warehouse, reference)


@pytest.mark.parametrize("step", [*DRIVER_STEPS, *TASK_STEPS])
def test_a_killed_run_is_carried_on(tmp_path: Path, store: Store, reference: tuple[Readings, str], step: str) -> None:
    name = f"killed_{step}"
    world, warehouse = store.make_world(tmp_path, name), store.place(name, "warehouse")
    store.arrive(name, *FILES)
    assert start_apart(world, warehouse, kill_at=step, store=store.environment)() == (-signal.SIGKILL, "")
    evaluate(world, warehouse)
    assert_same_rows(world, warehouse, reference)


@pytest.mark.long
@pytest.mark.parametrize("kind", STORES)
def test_a_store_that_is_slow_and_fails(tmp_path: Path, reference: tuple[Readings, str], kind: str) -> None:
    """100 ms an operation, and 5% of them fail, half of these after they are done."""
    with STORES[kind](0.1, 0.05) as store:
        world, warehouse = store.make_world(tmp_path, "unsteady"), store.place("unsteady", "warehouse")
        store.arrive("unsteady", *FILES)
        evaluate(world, warehouse)
        assert_same_rows(world, warehouse, reference)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_fails_always_is_one_line(tmp_path: Path, kind: str) -> None:
    with STORES[kind]() as store:
        world, warehouse = store.make_world(tmp_path, "down"), store.place("down", "warehouse")
        store.arrive("down", 0)
    code, said = start_apart(world, warehouse, store=store.environment)()  # nobody listens any more
    assert code == 2
    assert store.place("down") in said
    assert "run again when it can be" in said
    assert "\n" not in said


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_runs_at_once(tmp_path: Path, store: Store, reference: tuple[Readings, str], seed: int) -> None:
    """Nothing locks them out: whoever is late is refused, and no window is lost, doubled or made of a mixture."""
    name, pick = f"at_once_{seed}", random.Random(seed)
    world, warehouse = store.make_world(tmp_path, name), store.place(name, "warehouse")
    store.arrive(name, *FILES)
    for _ in range(3):
        kills = [pick.choice(["", "", *DRIVER_STEPS]) for _ in range(3)]
        runs = [start_apart(world, warehouse, kill_at=step, store=store.environment) for step in kills]
        for wait in runs:
            code, said = wait()
            assert code in (0, -signal.SIGKILL) or (code == 2 and "another run" in said), said
    evaluate(world, warehouse)
    assert_same_rows(world, warehouse, reference)


def test_the_work_of_others_is_swept_once_it_cannot_be_committed(tmp_path: Path, store: Store) -> None:
    world, warehouse = store.make_world(tmp_path, "swept"), store.place("swept", "warehouse")
    store.arrive("swept", 0)
    assert start_apart(world, warehouse, kill_at="results", store=store.environment)()[0] == -signal.SIGKILL
    storage = stream_storage(warehouse, STREAM)
    left = list_data(storage, newest(storage))
    assert left.names
    sweep(storage, newest(storage), left)  # it could be committed yet, if whoever wrote it were alive
    assert {*left.names} <= {*list_data(storage, newest(storage)).names}
    evaluate(world, warehouse)
    assert not {*left.names} & {*list_data(storage, newest(storage)).names}
    readings.assert_swept(warehouse)


def test_a_manifest_that_is_history_at_once_is_refused(tmp_path: Path, store: Store) -> None:
    """Another run has gone on so far that the manifest in whose place this one would come is swept away."""
    storage = Storage(store.place("history"))
    for sequence in range(3):
        commit(storage, replace(Manifest(), sequence=sequence))
    storage.delete("manifests/000000000001.json")
    with pytest.raises(HeddleError, match="another run committed this batch meanwhile"):
        commit(storage, replace(Manifest(), sequence=1))
