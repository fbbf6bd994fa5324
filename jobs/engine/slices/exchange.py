"""Exchange: partials go to the bucket of their key; a bucket is what one task finishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.arrow import COMPRESSED, read_tables, write_tables
from jobs.engine.events.keys import bucket_numbers, key_codes
from jobs.engine.program.program import SIGNATURE, Grouping, MeasureProgram, TreeProgram
from jobs.engine.slices.slices import Slices, from_tables, to_table
from jobs.kernels.arrays import Ints
from optimizer.windows.edges import Edges

OVERLAP = 1.1  # the times that tables span, of the time that they span together


def label(grouping: Grouping, tree: TreeProgram) -> str:
    """Return what parcels and state files call a tree's slices: keys, edges, and which of several such trees.

    >>> tree = TreeProgram("t1", ((10, 0),), "events", 10, (), (), {})
    >>> label(Grouping(("k", "n"), (pa.string(), pa.int64()), (tree,)), tree)
    'k,n|96d6ab3cae7c9fff|t1'
    """
    return f"{grouping.name}|{tree.digest}|{tree.id}"


def pack_by_bucket(
    partials: Iterable[tuple[Grouping, TreeProgram, Slices | pa.Table]], count: int
) -> Iterator[tuple[int, bytes]]:
    """Yield every bucket that has partials, with its tables packed; partials that need not be joined come as tables.

    >>> tree = TreeProgram("t1", ((10, 0),), "events", 10, (), (), {})
    >>> grouping = Grouping(("k",), (pa.string(),), (tree,))
    >>> table = pa.table({"key k": list("abcde"), "start": [0] * 5})
    >>> parcels = pack_by_bucket([(grouping, tree, table)], count=2)
    >>> {bucket: sum(part.num_rows for part in unpack(content).values()) for bucket, content in parcels}
    {0: 2, 1: 3}
    """
    tables_of: dict[int, dict[str, pa.Table]] = {}
    for grouping, tree, slices in partials:
        if isinstance(slices, pa.Table):
            for bucket, table in _by_bucket(grouping, slices, count):
                tables_of.setdefault(bucket, {})[label(grouping, tree)] = table
            continue
        of_group = bucket_numbers(slices.keys.select(list(grouping.columns)), count)
        of_slice = of_group[slices.group]
        for bucket in np.unique(of_slice).tolist():
            positions = None if count == 1 else np.flatnonzero(of_slice == bucket)
            tables_of.setdefault(bucket, {})[label(grouping, tree)] = to_table(slices, positions)
    for bucket, tables in tables_of.items():
        yield bucket, pack(tables)


def _by_bucket(grouping: Grouping, table: pa.Table, count: int) -> Iterator[tuple[int, pa.Table]]:
    if count == 1 or not table.num_rows:
        yield 0, table
        return
    keys = key_codes(table.select(list(grouping.columns)))
    of_row = bucket_numbers(keys.distinct, count)[keys.codes]
    for bucket in np.flatnonzero(np.bincount(of_row, minlength=count)).tolist():
        yield bucket, table.filter(pa.array(of_row == bucket))


def unpack_parcels(contents: Iterable[bytes]) -> dict[str, list[pa.Table]]:
    """Return the tables of many parcels by label.

    They come in the order of their bytes, whichever task was the fastest, so that sums round alike in every run.

    >>> late, early = pack({"t1": pa.table({"n": [2]})}), pack({"t1": pa.table({"n": [1]})})
    >>> unpack_parcels([late, early]) == unpack_parcels([early, late])
    True
    """
    tables: dict[str, list[pa.Table]] = {}
    for content in sorted(contents):
        for name, table in unpack(content).items():
            tables.setdefault(name, []).append(table)
    return tables


def hardly_overlap(tables: Sequence[pa.Table]) -> bool:
    """Return whether the tables have slices of different times, so that to merge them would not make them fewer.

    >>> hardly_overlap([pa.table({"start": [0, 10]}), pa.table({"start": [10, 20]})])
    True
    >>> hardly_overlap([pa.table({"start": [0, 20]}), pa.table({"start": [0, 20]})])
    False
    """
    ends = [pc.min_max(table["start"]).as_py() for table in tables if table.num_rows]
    spans = sum(end["max"] - end["min"] for end in ends)
    whole = max((end["max"] for end in ends), default=0) - min((end["min"] for end in ends), default=0)
    return bool(spans <= OVERLAP * whole)


def chunk_label(label: str, edges: Edges, level: int) -> str:
    """Return what state files call the chunks of a level above a tree's slices, or the slices themselves at level 0.

    >>> chunk_label("k|t1", ((60, 0),), 1)
    'k|t1|60+0'
    """
    return f"{label}|{edges[0][0]}+{edges[0][1]}" if level else label


def merge_tables(
    grouping: Grouping,
    tree: TreeProgram,
    tables: list[pa.Table],
    measures: Sequence[MeasureProgram] = (),
    edges: Edges = (),
    bounds: Ints | None = None,
) -> Slices:
    """Return a tree's slices from its tables, or its chunks between some edges or times: with the measures of its
    partials, or with more.

    >>> from jobs.kernels.algebra.operators import MAX
    >>> largest = MeasureProgram("max(x)", "max", MAX, "int64", "x", "", "")
    >>> tree = TreeProgram("t1", ((10, 0),), "events", 10, (largest,), (), {})
    >>> tables = [pa.table({"key k": ["a"], "start": [0], "rows max(x) 0": [x]}) for x in (3, 5)]
    >>> merge_tables(Grouping(("k",), (pa.string(),), (tree,)), tree, tables).rows["max(x)"][:, 0].tolist()
    [5]
    """
    names = (*grouping.columns, SIGNATURE) if tree.bits else grouping.columns
    return from_tables(tables, names, measures or tree.partial_measures, edges, bounds)


def pack(tables: Mapping[str, pa.Table]) -> bytes:
    """Return tables as bytes, compressed by LZ4: they stay so in memory and on the way through Spark's shuffle.

    >>> unpack(pack({"a": pa.table({"n": [1, 2]})}))["a"].to_pydict()
    {'n': [1, 2]}
    """
    sink = pa.BufferOutputStream()
    write_tables(sink, tables, COMPRESSED)
    return bytes(sink.getvalue())


def unpack(content: bytes) -> dict[str, pa.Table]:
    """Return the tables of packed bytes by label; see `pack`.

    >>> sorted(unpack(pack({"a": pa.table({"n": [1]}), "b": pa.table({"n": [2]})})))
    ['a', 'b']
    """
    return read_tables(pa.BufferReader(content))
