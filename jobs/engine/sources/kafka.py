"""Topics of Kafka: messages are landed as Parquet together with their offsets; the landed files are the stream.

Kafka keeps no offset for Heddle, and no consumer group is joined: the log of landed events says how far it has read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
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
from jobs.host.storage import Storage, lock_folder
from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError, UnreachableError

Ints = npt.NDArray[np.int64]
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
    with _reach_topic(stream) as topic, lock_folder(Storage(stream.path), "mend `path` of the stream"):
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
        for consumed in self._consume(spans, reached):
            decoded = decode_messages(self.stream, consumed.values)
            if before is None and not tables and consumed.values and not decoded.places:
                raise HeddleError(
                    f"stream {self.stream.name}: no message of {self.name} fits `schema` of its source "
                    f"({next(iter(decoded.malformed.values()))}); mend it"
                )
            tables.append(_with_places(decoded, consumed))
            malformed.append(_quarantine(decoded, consumed))
        ends = {number: (start, reached[number]) for number, (start, _) in spans.items()}
        if all(start == end for start, end in ends.values()):
            return before
        events = pa.concat_tables([_empty_events(self.stream), *tables])
        quarantined = pa.concat_tables([MALFORMED_SCHEMA.empty_table(), *malformed])
        return commit_landing(self.stream, before, self.identity, ends, events, quarantined)

    def _consume(self, spans: Mapping[int, SPAN], reached: dict[int, int]) -> Iterator[Consumed]:
        """Yield messages, so many at once; `reached` follows them."""
        from confluent_kafka import KafkaError, TopicPartition

        self.consumer.assign([TopicPartition(self.name, number, start) for number, (start, _) in spans.items()])
        ends = np.zeros(max(spans) + 1, np.int64)
        ends[list(spans)] = [end for _, end in spans.values()]
        open_partitions, silent = set(spans), 0.0
        parts: list[Consumed] = []
        while open_partitions:
            messages = self.consumer.consume(CONSUMED_AT_ONCE, POLL)
            silent = 0.0 if messages else silent + POLL
            if silent > PATIENCE:
                raise _down(self.stream, "it sends no messages")
            events = [message for message in messages if message.error() is not None]
            consumed = _columns_of([message for message in messages if message.error() is None] if events else messages)
            for number in np.unique(consumed.partitions).tolist():
                # the last offsets of a span may be no messages, but marks of transactions: a later message shows it
                last = int(consumed.offsets[consumed.partitions == number].max())
                reached[number] = max(reached[number], min(last + 1, int(ends[number])))
            for event in events:
                if event.error().code() != KafkaError._PARTITION_EOF:
                    raise _refused_or_down(self.stream, event.error())
                number = event.partition()
                reached[number] = max(reached[number], min(event.offset(), int(ends[number])))
                open_partitions.discard(number)
            open_partitions = {number for number in open_partitions if reached[number] < ends[number]}
            parts.append(consumed.below(ends))
            if sum(len(part.values) for part in parts) >= DECODED_AT_ONCE or not open_partitions:
                yield _join(parts)
                parts = []
        self.consumer.unassign()


class Consumed(NamedTuple):
    """Messages in columns."""

    partitions: Ints
    offsets: Ints
    values: list[bytes | None]

    def below(self, ends: Ints) -> Consumed:
        """Return the messages before the ends of their partitions."""
        is_below = self.offsets < ends[self.partitions]
        if is_below.all():
            return self
        values = [self.values[place] for place in np.flatnonzero(is_below).tolist()]
        return Consumed(self.partitions[is_below], self.offsets[is_below], values)


def _columns_of(messages: Sequence[Any]) -> Consumed:
    count = len(messages)
    partitions = np.fromiter((message.partition() for message in messages), np.int64, count)
    offsets = np.fromiter((message.offset() for message in messages), np.int64, count)
    return Consumed(partitions, offsets, [message.value() for message in messages])


def _join(parts: Sequence[Consumed]) -> Consumed:
    partitions, offsets = (np.concatenate([part[column] for part in parts]) for column in (0, 1))
    return Consumed(partitions, offsets, [value for part in parts for value in part.values])


def _empty_events(stream: Stream) -> pa.Table:
    return pa.schema([*event_types(stream).items(), *PLACE]).empty_table()


def _with_places(decoded: Decoded, consumed: Consumed) -> pa.Table:
    partitions, offsets = consumed.partitions[decoded.places], consumed.offsets[decoded.places]
    table = decoded.events.append_column(PLACE.field(0), pa.array(partitions, pa.int32()))
    return table.append_column(PLACE.field(1), pa.array(offsets, pa.int64()))


def _quarantine(decoded: Decoded, consumed: Consumed) -> pa.Table:
    places = np.fromiter(decoded.malformed, np.int64, len(decoded.malformed))
    values = [consumed.values[place] for place in decoded.malformed]
    columns = (consumed.partitions[places], consumed.offsets[places], list(decoded.malformed.values()), values)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, MALFORMED_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=MALFORMED_SCHEMA)


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
        raise _refused_or_down(stream, error.args[0]) from None
    finally:
        if consumer is not None:
            consumer.close()


def _refused_or_down(stream: Stream, error: Any) -> HeddleError:
    """Return the error of a client: of rights that are missing, which no later try has, or of a broker that is down."""
    from confluent_kafka import KafkaError

    denied = {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,
    }
    if isinstance(error, KafkaError) and error.code() in denied:
        return HeddleError(
            f"stream {stream.name}: the topic {stream.options['topic']} cannot be read ({error.str()}); ask for the "
            f"right to read it, or mend {VARIABLE}*"
        )
    return _down(stream, error.str() if isinstance(error, KafkaError) else str(error))


def _down(stream: Stream, reason: str) -> UnreachableError:
    return UnreachableError(
        f"stream {stream.name}: the broker {stream.options['servers']} cannot be read ({reason}); start it, or mend "
        "`servers`"
    )
