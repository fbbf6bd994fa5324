"""Keys as numbers: nulls, several columns, dictionaries however they are cut."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from jobs.engine.events.columns import text_ranks
from jobs.engine.events.keys import bucket_numbers, key_codes


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def check(table: pa.Table) -> None:
    """Every row has its own key's code, and no two codes stand for the same key."""
    keys = key_codes(table)
    distinct = rows_of(keys.distinct)
    assert [distinct[code] for code in keys.codes] == rows_of(table)
    assert len(set(distinct)) == len(distinct)
    assert keys.distinct.column_names == table.column_names


TEXTS = pa.array(["a", None, "b", "a", None])
WHOLE = pa.array([2, 2, None, 2, 3], pa.int32())
DAYS = pa.array([date(2024, 2, 29), None, date(1969, 1, 1), None, None])
TRUTHS = pa.array([True, None, False, True, True])


@pytest.mark.parametrize("columns", [[TEXTS], [WHOLE], [DAYS], [TRUTHS], [TEXTS, WHOLE], [TRUTHS, DAYS, TEXTS, WHOLE]])
def test_null_is_a_key(columns: list[pa.Array]) -> None:
    check(pa.table(columns, names=[f"k{n}" for n in range(len(columns))]))


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("alone", [True, False])
def test_dictionaries(nulls: bool, alone: bool) -> None:
    first = pa.DictionaryArray.from_arrays(pa.array([0, 2, None if nulls else 0]), pa.array(["a", "unused", "b"]))
    second = pa.DictionaryArray.from_arrays(pa.array([1, 1, 0]), pa.array(["c", "a"]))
    table = pa.table({"k": pa.chunked_array([first, second])})
    check(table if alone else table.append_column("n", pa.array([1, 1, 2, 1, None, 2])))


def test_dictionaries_that_have_a_value_twice() -> None:
    """As those of the columns of a key do: here of (b, 2) and (b, null), then of (b, null) and (b, 2)."""
    first, second = (
        pa.table(
            {
                "k": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["b", "b"])),
                "i": pa.DictionaryArray.from_arrays(pa.array(places), pa.array([2])),
            }
        )
        for places in ([0, None], [None, 0])
    )
    table = pa.concat_tables([first, second])
    for part in (first, second, table, table.combine_chunks(), table.combine_chunks().select(["k"])):
        check(part)
    check(pa.table({"k": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array([None, "a", None, "a"]))}))


@pytest.mark.parametrize("kind", [pa.string(), pa.int32(), pa.dictionary(pa.int32(), pa.date32())])
def test_no_rows(kind: pa.DataType) -> None:
    table = pa.schema([("k", kind), ("n", pa.int64())]).empty_table()
    assert len(key_codes(table).codes) == len(key_codes(table.select(["k"])).codes) == 0


def test_buckets_depend_on_the_key_alone() -> None:
    table = pa.table({"k": TEXTS, "d": DAYS})
    found = bucket_numbers(table, 5)
    assert ((found >= 0) & (found < 5)).all()
    shuffled = np.array([4, 2, 0, 3, 1])
    assert bucket_numbers(table.take(pa.array(shuffled)), 5).tolist() == found[shuffled].tolist()
    assert bucket_numbers(pa.table({"n": pa.array([7], pa.int32())}), 99) == bucket_numbers(
        pa.table({"n": pa.array([7])}), 99
    )


def test_text_ranks_order_as_bytes_do() -> None:
    texts = ["b", "", None, "\U0001f600", "\uffee", "B", "b", "é"]
    ranks = text_ranks(pa.array(texts))
    known = [n for n, text in enumerate(texts) if text is not None]
    by_rank = sorted(known, key=lambda n: ranks[n])
    assert [texts[n] for n in by_rank] == sorted((texts[n] for n in known), key=lambda text: text.encode())  # type: ignore[union-attr, type-var]
    assert ranks[0] == ranks[6]
    assert text_ranks(pa.array(texts).dictionary_encode()).tolist() == ranks.tolist()
