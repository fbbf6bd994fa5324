"""Manifests: the newest one counts, a damaged one is refused, and marks tell how far each batch had come."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.engine.warehouse.manifest import (
    MOST_MARKS,
    DataFile,
    Manifest,
    Mark,
    add_mark,
    commit,
    emitted_span,
    has_all_marks,
    latest_of_batch,
    load_past,
    manifest_names,
    newest,
)
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

FULL = Manifest(
    sequence=1,
    batch=1,
    watermark=50,
    latest=60,
    buckets=2,
    results=(DataFile("results/a", 0, 3, 0, "k"),),
    state=(DataFile("state/b", 1, 5, 1),),
    types={"n": "int64"},
    counts={"events": 8},
    standing="standing/c.json",
    marks=(Mark(0, 40, 30), Mark(1, 60, 50)),
)


def test_the_newest_is_in_force(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    assert newest(storage) == Manifest()
    commit(storage, Manifest(sequence=0, batch=0))
    commit(storage, FULL)
    assert newest(storage) == FULL
    assert FULL.files() == {"results/a", "state/b", "standing/c.json"}
    with pytest.raises(HeddleError, match="another run committed this batch meanwhile; run again"):
        commit(storage, FULL)


def test_a_damaged_manifest_is_refused_and_left_out_of_history(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    commit(storage, Manifest(sequence=0, batch=0))
    commit(storage, FULL)
    names = manifest_names(storage)
    path = Path(storage.path(names[-1]))
    path.write_text(path.read_text().replace('"watermark":50', '"watermark":51'))
    with pytest.raises(HeddleError, match="the manifest is damaged; restore this file from a backup"):
        newest(storage)
    assert [manifest.batch for manifest in load_past(storage, names)] == [0]


def test_marks_tell_the_windows_and_the_latest_event_of_a_batch() -> None:
    marks = add_mark(add_mark((), Mark(0, 40, 30)), Mark(1, 60, 50))
    assert emitted_span(marks, 0) == (BEGINNING, 30)
    assert emitted_span(marks, 1) == (30, 50)
    assert emitted_span(marks, 2) is None
    assert (latest_of_batch(marks, 1), latest_of_batch(marks, 2)) == (60, None)
    closed = add_mark(marks, Mark(1, 60, 55))
    assert closed == (Mark(0, 40, 30), Mark(1, 60, 55)), "the closing takes the place of its batch"


def test_old_marks_thin_out() -> None:
    marks: tuple[Mark, ...] = ()
    for batch in range(MOST_MARKS + 1):
        assert has_all_marks(marks, batch - 1)
        marks = add_mark(marks, Mark(batch, batch, batch))
    assert not has_all_marks(marks, MOST_MARKS)
    assert emitted_span(marks, 2) is None, "the mark of the batch before it is forgotten"
    assert latest_of_batch(marks, 2) == 3, "a later mark is an upper bound"
    assert emitted_span(marks, MOST_MARKS) == (MOST_MARKS - 1, MOST_MARKS)
