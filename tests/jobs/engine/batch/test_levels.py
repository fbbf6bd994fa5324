"""Long windows over many small batches: chunks that are closed, and late events that still belong to them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.engine.batch.adopt import adopt
from jobs.engine.batch.run_batch import close, run_batch
from jobs.engine.finals import gather
from jobs.engine.sources import list_input_files
from jobs.engine.warehouse.consumed_files import PastBatch, RawEvents
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import Manifest
from jobs.runs.in_process import in_process
from optimizer.plan import levels
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.batch.test_adopt import OneProcess
from tests.jobs.engine.questions import Question, Window
from tests.jobs.engine.runs import Answers, answers_in
from tests.oracle.naive_aggregates import Event
from tests.worlds.streams import SECOND, Row, odd_row
from tests.worlds.warehouse import STREAM, World, make_world

BATCHES, EACH, SPAN = 24, 9, 5 * SECOND
ASKED = {
    "total": Question("sum", "n", "", "", ("k",), Window(64 * SECOND, SECOND)),
    "brief": Question("count", "*", "", "", ("k",), Window(3 * SECOND, SECOND)),
    "mean": Question("avg", "x", "", "b", ("k",), Window(50 * SECOND, 4 * SECOND, SECOND)),
    "spread": Question("stddev_samp", "y", "", "", (), Window(41 * SECOND, 2 * SECOND)),
    "text": Question("max", "s", "", "", ("k",), Window(30 * SECOND, 6 * SECOND)),
    "top": Question("argmax", "s", "x", "b", (), Window(33 * SECOND, 2 * SECOND, SECOND)),
    "first": Question("first", "n", "", "", ("k",), Window(37 * SECOND, 3 * SECOND)),
    "low": Question("min", "y", "", "", ("k", "i"), Window(60 * SECOND, 12 * SECOND)),
}


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Let chunks be as short as can be, and say of which levels some were read."""
    used: set[int] = set()
    read = gather.TreeLevels.read

    def note(self: gather.TreeLevels, number: int, spans: object) -> object:
        tables = read(self, number, spans)  # type: ignore[arg-type]
        used.update([number] if tables else [])
        return tables

    monkeypatch.setattr(gather.TreeLevels, "read", note)
    monkeypatch.setattr(levels, "FEW", 1)
    monkeypatch.setattr(levels, "BASE", 2)
    monkeypatch.setattr(levels, "WHOLE", 1)
    return used


def straggling_batches(seed: int) -> list[list[Row]]:
    """Each batch covers later times than the one before, with stragglers from long ago; now and then there is a pause,
    and keys come and go."""
    pick = random.Random(seed)
    batches, begin = [], pick.choice([0, -77 * SECOND - 3])
    for number in range(BATCHES):
        begin += pick.choice([SPAN, SPAN, SPAN, 0, 9 * SPAN])
        behind = [pick.choice([0, 0, 0, 2, 7, 31, 62]) * SECOND for _ in range(EACH)]
        rows = [odd_row(begin - late + pick.randrange(SPAN), pick.randrange(1 << 20)) for late in behind]
        batches.append([{**row, "k": f"{number // 9}"} if pick.random() < 0.3 else row for row in rows])
    return batches


def run(world: World, other: World | None, strategies: tuple[str, str]) -> tuple[Answers, list[int]]:
    """Run every file as a batch, half of them under another plan; return all answers and the watermark of each."""
    storage, executors = stream_storage(str(world.folder / "warehouse"), STREAM), OneProcess()
    plan = world.plan(strategies[0])
    program = world.program(plan)
    manifest, watermarks = replace(Manifest(), buckets=2), []
    files = list_input_files(world.catalog.streams[STREAM])
    past: list[PastBatch] = []
    for number, file in enumerate(files):
        if other and number == BATCHES // 2:
            plan = other.plan(strategies[1])
            program = other.program(plan)
            raw = RawEvents(past, BEGINNING)
            manifest = adopt(storage, manifest, program, lambda since: raw, executors).manifest  # noqa: B023
        watermarks.append(manifest.watermark)
        past.append(PastBatch(number, manifest.watermark, [file]))
        manifest = run_batch(storage, manifest, program, number, executors.execute([file]))
    closed = close(storage, manifest, program, in_process([]))
    return answers_in(world, storage, closed, plan), [*watermarks, closed.watermark]


def contents(question: Question, batches: list[list[Row]], emitted: list[int]) -> dict[object, list[Event]]:
    """The events of every window that ended, without those that came after it was out."""
    held: dict[object, list[Event]] = {}
    for number, batch in enumerate(batches):
        for place, rows in question.held(batch).items():
            if emitted[number] < place[1] + question.window.range <= emitted[-1]:
                held.setdefault(place, []).extend(rows)
    return held


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("strategies", [("shared", ""), ("no_share", "shared"), ("cascade", "no_share")])
def test_answers(tmp_path: Path, seed: int, strategies: tuple[str, str], short_chunks: set[int]) -> None:
    batches = straggling_batches(seed)
    entries = [question.entry(id) for id, question in ASKED.items()]
    world = make_world(tmp_path / "world", batches, entries, [0, SECOND, 20 * SECOND][seed % 3])
    found, watermarks = run(world, world if strategies[1] else None, strategies)
    assert {0, 1, 2} <= short_chunks, "chunks of several levels are read"
    for id, question in ASKED.items():
        held = contents(question, batches, watermarks)
        assert found[id].keys() == held.keys(), (id, found[id].keys() ^ held.keys())
        wrong = {place: found[id][place] for place in held if not question.fits(held[place], found[id][place])}
        assert not wrong, (id, wrong)
