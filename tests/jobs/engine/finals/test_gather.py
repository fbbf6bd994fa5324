"""A tree's slices in its bucket: of retained and new partials, and what the next batch needs of them."""

from __future__ import annotations

from pathlib import Path

from jobs.engine.finals.gather import gather
from jobs.engine.slices.exchange import label
from jobs.engine.warehouse.state_files import FOLDER, StateFiles, save_state
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING
from tests.jobs.engine.finals.partials import event, only_root, partials_of
from tests.worlds.streams import SECOND
from tests.worlds.warehouse import query

EVENTS = [event(second, "a", second) for second in range(10)]
QUERY = query("q", "sum(n)", 4 * SECOND, 2 * SECOND, group_by=["k"])


def test_slices_of_windows_that_end(tmp_path: Path) -> None:
    program, incoming = partials_of(tmp_path, EVENTS, [QUERY])
    grouping, tree = only_root(program)
    name = label(grouping, tree)
    storage = Storage(str(tmp_path))
    storage.make_folder(FOLDER)
    gathered = gather(grouping, tree, {}, StateFiles(storage, []), incoming, (BEGINNING, 8 * SECOND))
    assert gathered is not None
    assert gathered.slices is not None
    assert gathered.slices.start.tolist() == [second * SECOND for second in range(0, 8, 2)]
    kept = gathered.added[name]
    assert sorted(kept.table["start"].to_pylist()) == [6 * SECOND, 8 * SECOND], "windows from 6 on have not ended"

    state = StateFiles(storage, save_state(storage, 0, 0, gathered.added))
    later = gather(grouping, tree, {}, state, {}, (8 * SECOND, 10 * SECOND))
    assert later is not None
    assert later.slices is not None
    assert later.slices.start.tolist() == [6 * SECOND, 8 * SECOND]


def test_while_no_window_ends_nothing_is_folded(tmp_path: Path) -> None:
    program, incoming = partials_of(tmp_path, EVENTS, [QUERY])
    grouping, tree = only_root(program)
    state = StateFiles(Storage(str(tmp_path)), [])
    gathered = gather(grouping, tree, {}, state, incoming, (BEGINNING, BEGINNING))
    assert gathered is not None
    assert (gathered.slices, gathered.folded, gathered.partials) == (None, 0, 0)
    (kept,) = gathered.added.values()
    assert kept.table.num_rows == 5
