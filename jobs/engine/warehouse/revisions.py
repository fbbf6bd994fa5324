"""Revisions: rows of emitted windows that were answered once more; of each row, readers want the newest.

A row of a query is told apart by its keys and its window. Its first answer has no revision, each later one the batch
that corrected it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.engine.events.arrow import decode_dictionary
from jobs.engine.warehouse.manifest import DataFile
from jobs.engine.warehouse.result_files import QUERY, REVISION, START
from jobs.host.storage import Storage
from jobs.kernels.arrays import Bools, Ints

FIRST = -1  # stands for the answer that no batch has corrected


def revise_tables(
    storage: Storage, touched: Sequence[DataFile], batch: int, tables: Sequence[pa.Table]
) -> list[pa.Table]:
    """Return the answers in the rows that some files have, as revisions of a batch; tables without any are left out."""
    columns = [name for name in tables[0].column_names if name in (QUERY, START) or name.startswith("key ")]
    paths = [storage.path(file.name) for file in touched]
    own = [pq.read_table(path, columns=columns, filesystem=storage.filesystem, partitioning=None) for path in paths]
    revised = []
    for table in tables:
        wanted = table.filter(pa.array(are_among(table.select(columns), own)))
        if wanted.num_rows:
            revisions = pa.repeat(pa.scalar(batch, pa.int64()), wanted.num_rows)
            revised.append(wanted.append_column(REVISION, revisions).combine_chunks())
    return revised


def are_among(table: pa.Table, others: Sequence[pa.Table]) -> Bools:
    """Return which rows of a table are among those of others, nulls being values like any other.

    >>> are_among(pa.table({"k": ["a", None, "b"]}), [pa.table({"k": [None, "b"]})]).tolist()
    [False, True, True]
    """
    plain = _decode(table)
    parts = [_decode(other).cast(plain.schema) for other in others]
    groups = number_groups(pa.concat_tables([plain, *parts]))
    return np.isin(groups[: table.num_rows], groups[table.num_rows :])


def _decode(table: pa.Table) -> pa.Table:
    columns = {name: decode_dictionary(table[name]) for name in table.column_names}
    return pa.table(columns)


def number_groups(table: pa.Table) -> Ints:
    """Return a number for every row: the same for rows that are equal, nulls being values like any other.

    >>> number_groups(pa.table({"k": ["a", None, "a", None], "n": [1, 2, 1, 3]})).tolist()
    [0, 1, 0, 2]
    """
    places = table.append_column("place of row", pa.array(np.arange(table.num_rows)))
    lists = places.group_by(table.column_names, use_threads=False).aggregate([("place of row", "list")])
    groups = lists["place of row_list"].combine_chunks()
    numbers = np.empty(table.num_rows, np.int64)
    numbers[np.asarray(groups.flatten())] = np.repeat(np.arange(len(groups)), np.asarray(pc.list_value_length(groups)))
    return numbers


def number_revisions(table: pa.Table, keys: Sequence[str]) -> tuple[Ints, Bools]:
    """Return the number of the revision that each row is, from 0 on, and whether it is the newest.

    >>> table = pa.table({"k": ["a", "a", "b", "a"], REVISION: pa.array([None, 7, None, 5], pa.int64())})
    >>> [column.tolist() for column in number_revisions(table, ["k"])]
    [[0, 2, 0, 1], [False, True, True, False]]
    """
    revisions = np.asarray(table[REVISION].fill_null(FIRST))
    groups = number_groups(table.select(keys)) if keys else np.zeros(table.num_rows, np.int64)
    pairs, place = np.unique(np.stack([groups, revisions]), axis=1, return_inverse=True)
    first, last = (np.searchsorted(pairs[0], groups, side) for side in ("left", "right"))
    numbers, newest = place - first, place == last - 1
    return numbers, newest


def keep_newest(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the newest revision of every row; a table without the column has no other."""
    if REVISION not in table.column_names or not table.num_rows:
        return table
    return table.filter(pa.array(number_revisions(table, keys)[1]))
