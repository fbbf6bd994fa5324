"""Topics of Kafka: messages are landed as Parquet together with their offsets; the landed files are the stream.

Kafka keeps no offset for Heddle, and no consumer group is joined: the log of landed events says how far it has read.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from jobs.engine.sources.contract import TableColumns
from jobs.engine.sources.landing import (
    ANEW,
    MALFORMED_SCHEMA,
    PLACE,
    SPAN,
    Landing,
    commit_landing,
    newest_landing,
    next_offsets,
    sweep_landing,
)
from jobs.engine.sources.messages import Decoded, decode_messages, event_types
from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError

AT_ONCE = 1 << 20  # messages of a landing
DECODED_AT_ONCE = 1 << 15
CONSUMED_AT_ONCE = 1 << 13
PATIENCE = 10.0  # seconds without an answer after which a broker is down
POLL = 0.1  # seconds
VARIABLE = "HEDDLE_KAFKA_"  # of the environment: HEDDLE_KAFKA_SASL_PASSWORD is sasl.password
PROPERTIES = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
)


def read_columns(stream: Stream) -> TableColumns:
    """Return the columns of landed events: the catalog's, and where each message was."""
    return TableColumns(event_types(stream) | {field.name: field.type for field in PLACE})


def land_messages(stream: Stream) -> None:
    """Land what a topic has that is not landed yet."""
    event_types(stream)
    with _one_landing(Storage(stream.path)), _reach_topic(stream) as topic:
        sweep_landing(stream)
        before = newest_landing(stream)
        waiting = topic.find_waiting(before)
        while spans := cut_spans(waiting, AT_ONCE):
            before = topic.land(before, spans)
            reached = next_offsets(before)
            # a partition that has not come to its end waits for a transaction
            waiting = {
                number: (reached.get(number, start), end)
                for number, (start, end) in waiting.items()
                if number not in spans or reached.get(number) == spans[number][1]
            }


def cut_spans(waiting: Mapping[int, SPAN], most: int) -> dict[int, SPAN]:
    """Return the next offsets of each partition, of all about `most`: each gives the same share of what it has.

    >>> cut_spans({0: (0, 30), 1: (5, 15)}, 8)
    {0: (0, 6), 1: (5, 7)}
    """
    total = sum(end - start for start, end in waiting.values())
    share = min(1.0, most / total) if total else 1.0
    cut = {
        number: (start, min(end, start + -int(-(end - start) * share // 1))) for number, (start, end) in waiting.items()
    }
    return {number: span for number, span in cut.items() if span[0] < span[1]}


class Topic:
    """A topic that answers."""

    def __init__(self, stream: Stream, consumer: Any) -> None:
        self.stream = stream
        self.consumer = consumer
        self.name = stream.options["topic"]
        self.identity, self.partitions = self._describe()

    def _describe(self) -> tuple[str, list[int]]:
        from confluent_kafka import TopicCollection
        from confluent_kafka.admin import AdminClient

        metadata = self.consumer.list_topics(self.name, PATIENCE).topics[self.name]
        if metadata.error is not None:
            raise HeddleError(
                f"stream {self.stream.name}: the topic {self.name} cannot be read ({metadata.error.str()}); create it, "
                "mend `topic`, or ask for the right to read it"
            )
        admin = AdminClient(_settings(self.stream))  # which would end with its last name, before it has answered
        answer = admin.describe_topics(TopicCollection([self.name]))[self.name]
        return str(answer.result(PATIENCE).topic_id), sorted(metadata.partitions)

    def find_waiting(self, before: Landing | None) -> dict[int, SPAN]:
        """Return the messages of each partition that wait; refuse a topic that has lost some of them."""
        from confluent_kafka import TopicPartition

        if before and before.topic != self.identity:
            raise HeddleError(f"stream {self.stream.name}: {self.name} is another topic than before; {ANEW}")
        reached, waiting = next_offsets(before), {}
        is_new = before is None and self.stream.options.get("startingOffsets") == "latest"
        for number in self.partitions:
            low, high = self.consumer.get_watermark_offsets(TopicPartition(self.name, number), PATIENCE)
            start = reached.get(number, high if is_new else low)
            if start < low or start > high:
                raise HeddleError(
                    f"stream {self.stream.name}: partition {number} of {self.name} has messages {low} to {high - 1}, "
                    f"and {start} is next: some are gone (Kafka's retention) before they were landed; {ANEW}"
                )
            waiting[number] = (start, high)
        return waiting

    def land(self, before: Landing | None, spans: Mapping[int, SPAN]) -> Landing | None:
        """Land these messages; where a transaction is still open, those before it. Return the newest landing."""
        tables: list[pa.Table] = []
        malformed: list[pa.Table] = []
        reached = {number: start for number, (start, _) in spans.items()}
        for partitions, offsets, values in self._consume(spans, reached):
            decoded = decode_messages(self.stream, values)
            if before is None and not tables and values and not decoded.places:
                raise HeddleError(
                    f"stream {self.stream.name}: no message of {self.name} fits `schema` of its source "
                    f"({next(iter(decoded.malformed.values()))}); mend it"
                )
            tables.append(_with_places(decoded, partitions, offsets))
            malformed.append(_quarantine(decoded, partitions, offsets, values))
        ends = {number: (start, reached[number]) for number, (start, _) in spans.items()}
        if all(start == end for start, end in ends.values()):
            return before
        events = pa.concat_tables([_empty_events(self.stream), *tables])
        quarantined = pa.concat_tables([MALFORMED_SCHEMA.empty_table(), *malformed])
        return commit_landing(self.stream, before, self.identity, ends, events, quarantined)

    def _consume(
        self, spans: Mapping[int, SPAN], reached: dict[int, int]
    ) -> Iterator[tuple[list[int], list[int], list[bytes | None]]]:
        """Yield messages as partitions, offsets and values, so many at once; `reached` follows them."""
        from confluent_kafka import KafkaError, TopicPartition

        self.consumer.assign([TopicPartition(self.name, number, start) for number, (start, _) in spans.items()])
        ends = {number: end for number, (_, end) in spans.items()}
        open_partitions, silent = set(spans), 0.0
        partitions: list[int] = []
        offsets: list[int] = []
        values: list[bytes | None] = []
        while open_partitions:
            messages = self.consumer.consume(CONSUMED_AT_ONCE, POLL)
            silent = 0.0 if messages else silent + POLL
            if silent > PATIENCE:
                raise _down(self.stream, "it sends no messages")
            for message in messages:
                number, offset, error = message.partition(), message.offset(), message.error()
                if number not in open_partitions:
                    continue
                if error is None and offset < ends[number]:
                    partitions.append(number)
                    offsets.append(offset)
                    values.append(message.value())
                    reached[number] = offset + 1
                    if offset + 1 == ends[number]:
                        open_partitions.discard(number)
                elif error is None:  # the last offsets of the span are no messages: marks of transactions, compaction
                    reached[number] = ends[number]
                    open_partitions.discard(number)
                elif error.code() == KafkaError._PARTITION_EOF:
                    reached[number] = max(reached[number], min(offset, ends[number]))
                    open_partitions.discard(number)
                else:
                    raise _down(self.stream, error.str())
            if len(values) >= DECODED_AT_ONCE or (values and not open_partitions):
                yield partitions, offsets, values
                partitions, offsets, values = [], [], []
        self.consumer.unassign()


def _empty_events(stream: Stream) -> pa.Table:
    return pa.schema([*event_types(stream).items(), *PLACE]).empty_table()


def _with_places(decoded: Decoded, partitions: list[int], offsets: list[int]) -> pa.Table:
    numbers, places = np.asarray(partitions, np.int32)[decoded.places], np.asarray(offsets)[decoded.places]
    table = decoded.events.append_column(PLACE.field(0), pa.array(numbers, pa.int32()))
    return table.append_column(PLACE.field(1), pa.array(places, pa.int64()))


def _quarantine(decoded: Decoded, partitions: list[int], offsets: list[int], values: list[bytes | None]) -> pa.Table:
    rows = [(partitions[place], offsets[place], why, values[place]) for place, why in decoded.malformed.items()]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(MALFORMED_SCHEMA)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, MALFORMED_SCHEMA, strict=True)],
        schema=MALFORMED_SCHEMA,
    )


def _settings(stream: Stream) -> dict[str, Any]:
    """Return how the client reaches the broker; what is secret comes from the environment alone."""
    own = {name: os.environ.get(VARIABLE + name.upper().replace(".", "_")) for name in PROPERTIES}
    return {
        "bootstrap.servers": stream.options["servers"],
        "log_level": 0,  # its own lines would go to the terminal
        **{name: value for name, value in own.items() if value},
    }


@contextmanager
def _reach_topic(stream: Stream) -> Iterator[Topic]:
    """Open a topic; say in one line what is wrong with its broker."""
    try:
        from confluent_kafka import Consumer, KafkaException
    except ImportError:
        raise HeddleError(f"stream {stream.name}: a topic is read by confluent-kafka; install heddle[kafka]") from None
    consumer = None
    try:
        own = {
            "group.id": "heddle",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
        }
        consumer = Consumer(_settings(stream) | own | {"isolation.level": "read_committed"})
        yield Topic(stream, consumer)
    except KafkaException as error:
        reason = error.args[0]
        raise _down(stream, reason.str() if hasattr(reason, "str") else str(reason)) from None
    finally:
        if consumer is not None:
            consumer.close()


def _down(stream: Stream, reason: str) -> HeddleError:
    return HeddleError(
        f"stream {stream.name}: the broker {stream.options['servers']} cannot be read ({reason}); start it, or mend "
        "`servers`"
    )


@contextmanager
def _one_landing(storage: Storage) -> Iterator[None]:
    """Let one process land at a time; elsewhere than on a local disk, the log alone keeps them apart."""
    if not storage.local:
        yield
        return
    try:
        storage.make_folder(".")
        handle = Path(storage.path("lock")).open("a+")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise HeddleError(f"{storage.root}: cannot be written ({error.strerror}); mend `path` of the stream") from None
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
