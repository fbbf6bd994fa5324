"""Arrow columns as one array, and tables that come back from one stream by their labels."""

from __future__ import annotations

import pyarrow as pa

from jobs.engine.events.arrow import COMPRESSED, PLAIN, decode_dictionary, read_tables, to_array, write_tables


def test_a_column_in_parts_becomes_one_array() -> None:
    assert to_array(pa.chunked_array([[1, 2], [3]])).to_pylist() == [1, 2, 3]
    assert to_array(pa.chunked_array([], pa.int64())).to_pylist() == []
    array = pa.array([1])
    assert to_array(array) is array


def test_a_dictionary_is_decoded_and_anything_else_stays() -> None:
    encoded = pa.chunked_array([pa.array(["b", None, "b"]).dictionary_encode()])
    assert decode_dictionary(encoded).type == pa.string()
    assert decode_dictionary(encoded).to_pylist() == ["b", None, "b"]
    numbers = pa.chunked_array([[1]])
    assert decode_dictionary(numbers) is numbers


def test_tables_come_back_by_label_compressed_or_not() -> None:
    tables = {"first": pa.table({"n": [1, 2]}), "second": pa.table({"s": pa.array([], pa.string())})}
    for options in (PLAIN, COMPRESSED):
        sink = pa.BufferOutputStream()
        write_tables(sink, tables, options)
        back = read_tables(pa.BufferReader(sink.getvalue()))
        assert {name: table.to_pydict() for name, table in back.items()} == {
            "first": {"n": [1, 2]},
            "second": {"s": []},
        }
