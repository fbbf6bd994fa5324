"""Retained slices: every attempt has a file of its own, and its format is that of older warehouses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.engine.warehouse.state_files import RetainedSlices, RetainedTree, load_retained, save_retained
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.plan.levels import Level
from optimizer.windows.window import BEGINNING

LEVELS = (Level(((5, 0), (6, 1)), 20), Level(((20, 0),), 400))
TREE = RetainedTree("k", "[]", ((5, 0), (6, 1)), ("sum n by 2 as int64",), 400, 40, LEVELS)
RETAINED = RetainedSlices({"k|d|t1": TREE}, {"old@1": BEGINNING, "new@2": 70})


def test_saved_and_loaded(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    name = save_retained(storage, RETAINED)
    assert load_retained(storage, name) == RETAINED
    assert save_retained(storage, RETAINED) != name, "what one attempt has written, another may sweep"
    assert json.loads(storage.read(name)).keys() == {"trees", "asked", "frame"}, "the format on disk"
    assert load_retained(storage, "") == RetainedSlices()
    with pytest.raises(HeddleError, match="is damaged or missing"):
        load_retained(storage, "standing/none.json")


def test_what_can_be_answered() -> None:
    assert RETAINED.joined == {"new@2": 70}


def test_a_warehouse_from_before_there_were_chunks_has_slices_alone(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    document = json.loads(storage.read(save_retained(storage, RETAINED)))
    del document["trees"]["k|d|t1"]["levels"]
    storage.create("standing/old.json", json.dumps(document).encode())
    old = load_retained(storage, "standing/old.json").trees["k|d|t1"]
    assert old.all_levels == (Level(TREE.edges, 400),)
    assert old != TREE, "so that the program takes over once, and folds the chunks"
