"""Messages of a topic as columns: each fits the schema, or says in a line why it does not."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_writer

from jobs.engine.sources.messages import decode_messages
from optimizer.catalog.model.query import Stream

SCHEMA = "ts TIMESTAMP, k STRING, n BIGINT"


def stream(**options: str) -> Stream:
    return Stream("events", "ts", 0, "kafka", options={"schema": SCHEMA, **options})


def test_messages_that_fit_and_those_that_do_not() -> None:
    """One that is wrong costs the others nothing."""
    values = [
        b'{"ts": "2024-01-01T00:00:00Z", "k": "a", "n": 1}',
        b"no JSON",
        b'{"n": 2, "more": [1]}',
        None,
        b'{"n": "three"}',
        b'{"n": 4}, "v": {}',
        b"[5]",
    ]
    decoded = decode_messages(stream(), values)
    assert decoded.places == [0, 2]
    assert decoded.events["n"].to_pylist() == [1, 2]
    assert decoded.events["k"].to_pylist() == ["a", None]
    assert list(decoded.malformed) == [1, 3, 4, 5, 6]
    assert decoded.malformed[3] == "the message has no value"
    assert decoded.malformed[6] == "the message is no JSON object"
    assert all("\n" not in reason for reason in decoded.malformed.values())


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, '"2024-07-01T12:00:00+02:00"'),
        ({"timestamps": "seconds"}, "1719828000"),
        ({"timestamps": "milliseconds"}, "1719828000000"),
    ],
)
def test_times_as_they_are_written(options: dict[str, str], written: str) -> None:
    decoded = decode_messages(stream(**options), [f'{{"ts": {written}}}'.encode()])
    assert str(decoded.events["ts"][0].as_py()) == "2024-07-01 10:00:00+00:00"


@pytest.mark.parametrize("header", [b"", b"\0\0\0\0\7"])
def test_avro(header: bytes) -> None:
    """After the header of a schema registry, where the catalog says that there is one."""
    schema: Any = {
        "type": "record",
        "name": "event",
        "fields": [{"name": "k", "type": "string"}, {"name": "n", "type": "long"}],
    }
    body = io.BytesIO()
    schemaless_writer(body, parse_schema(schema), {"k": "a", "n": 3})
    options = {"values": "avro", "avroSchema": json.dumps(schema), "avroHeader": "true" if header else "false"}
    whole, cut = header + body.getvalue(), header + body.getvalue()[:-1]
    decoded = decode_messages(stream(**options), [whole, cut, whole + b"\0"])
    assert (decoded.places, decoded.events["n"].to_pylist()) == ([0], [3])
    assert list(decoded.malformed) == [1, 2]
