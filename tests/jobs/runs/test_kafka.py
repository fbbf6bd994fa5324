"""Streams of Kafka's topics, with a real broker: the answers of the same rows in plain files, every message once
whatever is killed, malformed ones in quarantine, and one line for what is wrong."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.engine.sources import kafka, landing, list_input_files
from jobs.engine.sources.landing import read_malformed
from jobs.host.stops import KILL_AT
from jobs.runs.backfill import backfill, past_of
from jobs.runs.in_process import evaluate_local
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from tests.worlds.broker import TopicWorld, kafka_broker, messages
from tests.worlds.tables import QUERIES, STREAM, in_files, rows


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka_broker(tmp_path_factory.mktemp("kafka")) as servers:
        yield servers


def make_world(folder: Path, servers: str, **options: str) -> TopicWorld:
    world = TopicWorld(folder, "kafka", servers, folder.name, tuple(options.items()))
    world.create()
    return world


def test_a_topic_gives_the_rows_of_plain_files(tmp_path: Path, broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Landed in small pieces, with transactions, cut into batches anyhow; what was aborted is no event."""
    monkeypatch.setattr(kafka, "AT_ONCE", 33)
    world, draw = make_world(tmp_path, broker), random.Random(1)
    tables = [rows(number) for number in range(6)]
    world.send(messages(tables[0]))
    catalog, events = world.catalog(), 0
    for number, table in enumerate(tables[1:]):
        events += world.evaluate(catalog, files=draw.choice([0, 0, 1, 2])) if number % 2 else 0
        world.send(messages(rows(90)), "abort" if number == 2 else "") if number == 2 else None
        world.send(messages(table), "commit" if number % 2 else "")
    events += world.evaluate(catalog)
    assert events == 240
    assert world.evaluate(catalog) == 0
    assert len(set(world.offsets(catalog))) == len(world.offsets(catalog)) == 240
    assert world.answers(catalog) == in_files(world, tables)


@pytest.mark.parametrize("step", ["drafted", "landed", "landing committed", "listed", "committed"])
def test_a_process_that_is_killed_lands_and_evaluates_every_message_once(
    tmp_path: Path, broker: str, step: str
) -> None:
    world = make_world(tmp_path, broker)
    world.send(messages(rows(0)))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.send(messages(rows(1)))
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / step).touch()
    command = [sys.executable, "-m", "heddle", "evaluate", str(tmp_path / "catalog"), "--stream", STREAM, "--local"]
    environment = {**os.environ, KILL_AT: str(tmp_path / "orders")}
    killed = subprocess.run([*command, "--warehouse", str(tmp_path / "w")], env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    world.send(messages(rows(2)))
    world.evaluate(catalog)
    world.evaluate(catalog)
    assert world.offsets(catalog) == [(number % 2, number // 2) for number in range(0, 120, 2)] + [
        (1, number // 2) for number in range(0, 120, 2)
    ]
    assert world.answers(catalog) == in_files(world, [rows(number) for number in range(3)])
    landed = {str(path) for path in (tmp_path / "landed" / "events").iterdir()}
    assert landed == {file.path for file in list_input_files(catalog.streams[STREAM])}, "a dead landing is swept"


def test_malformed_messages_are_in_quarantine_with_their_offset_and_reason(tmp_path: Path, broker: str) -> None:
    world = make_world(tmp_path, broker)
    good = messages(rows(0))
    bad: list[bytes | None] = [
        b"no json",
        b'{"x": "many"}',
        None,
        b'{"x": 1}, "y": {"x": 2}',
        b"[1]",
        b"null",
        b'{"x": 1.5}',
        b'{"ts": "yesterday"}',
        b'{"k": "a\xff"}',
        b'{"x": 1} {"x": 2}',
        b'{"x": 1}}\n{"v":{"x":2}',
        b"",
    ]
    mixed: list[bytes | None] = [*good[:20], *bad, *good[20:]]
    world.send(mixed)
    catalog = world.catalog()
    plan = plan_stream(catalog, STREAM, 10.0)
    report = evaluate_local(catalog, plan, str(tmp_path / "w"))
    assert report.events == len(good)
    assert report.notes == [
        f"12 messages of {world.topic} do not fit the schema and are in {tmp_path}/landed/malformed, "
        "with offset and reason"
    ]
    table = read_malformed(catalog.streams[STREAM]).to_pylist()
    assert all(row["reason"] for row in table)
    by_place = {(row["kafka_partition"], row["kafka_offset"]): row["value"] for row in table}
    assert by_place == {(number % 2, number // 2): mixed[number] for number in range(20, 32)}
    assert len(world.offsets(catalog)) + len(table) == len(mixed)
    assert world.answers(catalog) == in_files(world, [rows(0)])


def test_times_as_numbers_and_texts_without_a_zone(tmp_path: Path, broker: str) -> None:
    table = rows(0)
    world = make_world(tmp_path, broker, timestamps="microseconds")
    numbers = [dict(row, ts=int(row["ts"].timestamp() * 1_000_000 + 0.5)) for row in table.to_pylist()]
    world.send([json.dumps(row).encode() for row in numbers])
    catalog = world.catalog()
    world.evaluate(catalog)
    answers = world.answers(catalog)
    assert answers == in_files(world, [table])
    texts = TopicWorld(tmp_path / "texts", "kafka", broker, f"{world.topic}_texts")
    texts.folder.mkdir()
    texts.create()
    texts.send([value.replace(b"+00:00", b"") if number % 3 else value for number, value in enumerate(messages(table))])
    catalog = texts.catalog()
    texts.evaluate(catalog)
    assert texts.answers(catalog) == answers


def test_avro_values(tmp_path: Path, broker: str) -> None:
    import io

    from fastavro import schemaless_writer

    moment = {"type": "long", "logicalType": "timestamp-micros"}
    kinds = {"ts": moment, "k": "string", "x": ["null", "int"]}
    schema = {"type": "record", "name": "e", "fields": [{"name": name, "type": kind} for name, kind in kinds.items()]}
    world = make_world(tmp_path, broker, values="avro", avroSchema=json.dumps(schema))
    values = []
    for row in rows(0).to_pylist():
        out = io.BytesIO()
        schemaless_writer(out, schema, row)
        values.append(out.getvalue())
    world.send([*values, b"\x01", values[0] + b"\x00"])
    catalog = world.catalog()
    assert world.evaluate(catalog) == 40
    assert [row["kafka_offset"] for row in read_malformed(catalog.streams[STREAM]).to_pylist()] == [20, 20]
    assert world.answers(catalog) == in_files(world, [rows(0)])


def test_landed_files_expire_once_they_are_read(tmp_path: Path, broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(tmp_path, broker, retention="1 hour")
    catalog, clock = world.catalog(), time.time_ns()
    world.send(messages(rows(0)))
    world.evaluate(catalog)
    monkeypatch.setattr(landing.time, "time_ns", lambda: clock + 2 * 3600 * 10**9)
    world.send(messages(rows(1)))
    world.evaluate(catalog)
    assert len(world.offsets(catalog)) == 40, "the first landing is read and old"
    world.send(messages(rows(2)))
    world.evaluate(catalog)
    answers = world.answers(catalog)
    assert answers == in_files(world, [rows(number) for number in range(3)])
    with pytest.raises(HeddleError, match="other landed events"):
        landing.list_landings(catalog.streams[STREAM], json.dumps({"landing": "another", "done": 0}))
    identity = landing.newest_landing(catalog.streams[STREAM])
    assert identity is not None
    with pytest.raises(HeddleError, match="expired before this warehouse has read them"):
        landing.list_landings(catalog.streams[STREAM], json.dumps({"landing": identity.landing, "done": -1}))


def test_audits_backfills_and_plan_changes_read_landed_events(tmp_path: Path, broker: str, spark: SparkSession) -> None:
    """The topic has forgotten all of them by then."""
    world, tables = make_world(tmp_path, broker), [rows(number) for number in range(5)]
    few, warehouse = world.catalog(QUERIES[:1]), str(tmp_path / "w")
    for table in tables[:3]:
        world.send(messages(table))
        world.evaluate(few)
    for partition in range(2):
        world.forget(60, partition)
    catalog = world.catalog()  # with a query more
    plan = plan_stream(catalog, STREAM, 10.0)
    report = evaluate_local(catalog, plan, warehouse)
    assert any("from 120 raw events" in line for line in report.notes)
    for table in tables[3:]:
        world.send(messages(table))
        world.evaluate(catalog)
    assert check(spark, catalog, STREAM, warehouse, Choice(everything=True)).audit.passed
    past = past_of(lambda: spark, catalog, plan, warehouse)
    into = str(tmp_path / "past")
    assert backfill(past, into, (0, past.manifest.watermark))["events"] == 200
    assert check(spark, catalog, STREAM, into, Choice(everything=True)).audit.passed
    expected = in_files(world, tables)
    assert world.answers(catalog)[0] == world.answers(catalog, "past")[0] == expected[0]
    assert world.answers(catalog, "past")[1] == expected[1]


def test_what_is_wrong_is_one_line_and_nothing_is_written(
    tmp_path: Path, broker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "PATIENCE", 2.0)
    missing = TopicWorld(tmp_path, "kafka", broker, "nobody")
    with pytest.raises(HeddleError, match=r"the topic nobody cannot be read .*create it, mend `topic`"):
        missing.evaluate(missing.catalog())
    down = TopicWorld(tmp_path, "kafka", "127.0.0.1:9", "nobody")
    with pytest.raises(HeddleError, match=r"the broker 127.0.0.1:9 cannot be read .*start it, or mend `servers`"):
        down.evaluate(down.catalog())
    assert not (tmp_path / "landed").exists()
    world = make_world(tmp_path, broker)
    world.send([b'{"ts": 5, "k": 7}'] * 4)
    with pytest.raises(HeddleError, match=r"no message of \S+ fits `schema` of its source .*; mend it"):
        world.evaluate(world.catalog())
    assert not list((tmp_path / "landed").glob("*/*"))
    world.send(messages(rows(0)))
    catalog = world.catalog()
    world.evaluate(catalog)
    world.send(messages(rows(1)))
    world.forget(40)
    with pytest.raises(HeddleError, match=r"some are gone .Kafka's retention. before they were landed"):
        world.evaluate(catalog)
    world.delete()
    time.sleep(0.5)
    world.create()
    with pytest.raises(HeddleError, match="is another topic than before"):
        world.evaluate(catalog)
