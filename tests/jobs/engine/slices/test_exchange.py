"""Exchange: every partial reaches the bucket of its key, whole and once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from jobs.engine.events.keys import bucket_numbers
from jobs.engine.program.program import Grouping, MeasureProgram, TreeProgram, key_column
from jobs.engine.slices.exchange import (
    hardly_overlap,
    label,
    merge_tables,
    pack,
    pack_by_bucket,
    unpack,
    unpack_parcels,
)
from jobs.engine.slices.slices import Slices, to_table
from jobs.kernels.algebra.operators import COUNT, lift
from optimizer.plan.definition import EVENTS

COUNTED = MeasureProgram("count(*)", "count", COUNT, "int64", "", "", "")
TREE = TreeProgram("t", ((10, 0),), EVENTS, 10, (COUNTED,), (), {})
GROUPING = Grouping(("k",), (pa.string(),), (TREE,))
KEYS = [f"key{number}" for number in range(20)]
SLICES = Slices(
    pa.table({"key k": KEYS}),
    np.arange(0, 41, 2),
    np.tile([0, 10], 20),
    {"count(*)": lift(COUNT, np.arange(1, 41))},
    {},
)


@pytest.mark.parametrize("partials", [SLICES, to_table(SLICES)], ids=["slices", "table"])
@pytest.mark.parametrize("count", [1, 3])
def test_every_key_is_in_one_bucket(partials: Slices | pa.Table, count: int) -> None:
    packed = dict(pack_by_bucket([(GROUPING, TREE, partials)], count))
    expected = bucket_numbers(pa.table({"key k": KEYS}), count)
    total = 0
    for bucket, content in packed.items():
        (table,) = unpack_parcels([content])[label(GROUPING, TREE)]
        keys = {str(key) for key in table[key_column("k")].to_pylist()}
        assert keys == {key for key, number in zip(KEYS, expected, strict=True) if number == bucket}
        total += sum(merge_tables(GROUPING, TREE, [table]).rows["count(*)"][:, 0].tolist())
    assert set(packed) == set(expected.tolist())
    assert total == sum(range(1, 41))


def test_a_label_names_the_keys_the_edges_and_the_tree() -> None:
    keys, digest, id = label(GROUPING, TREE).split("|")
    assert (keys, digest, id) == ("k", TREE.digest, "t")


def test_packed_tables_come_back_by_label() -> None:
    tables = {"a": pa.table({"n": [1, 2]}), "b": pa.table({"s": ["x"]})}
    assert {name: table.to_pydict() for name, table in unpack(pack(tables)).items()} == {
        "a": {"n": [1, 2]},
        "b": {"s": ["x"]},
    }


def test_tables_of_the_same_time_overlap() -> None:
    first, second = pa.table({"start": [0, 100]}), pa.table({"start": [100, 200]})
    assert hardly_overlap([first, second])
    assert not hardly_overlap([first, first])
    assert hardly_overlap([])
