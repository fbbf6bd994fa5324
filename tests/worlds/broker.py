"""A real Kafka broker of Maven's jars, in KRaft mode, and a topic of it with the stream of a catalog that reads it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.engine.sources import list_input_files
from jobs.host.cache import cache_folder
from jobs.host.connectors import install_connector
from jobs.host.spark_runtime import java_home
from optimizer.catalog.model.catalog import Catalog
from optimizer.errors import HeddleError
from tests.worlds.tables import STREAM, TableWorld

PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
auto.create.topics.enable=false
"""
SMALL = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]


@contextmanager
def kafka_broker(folder: Path) -> Iterator[str]:
    """The address of a broker, while it is up; left out, with one line, where its jars cannot be fetched."""
    pytest.importorskip("confluent_kafka", reason="left out: confluent-kafka is not installed")
    try:
        jars = install_connector("kafka", lambda line: None)
    except HeddleError as error:
        reason = f"left out: {error}"
        warnings.warn(reason, stacklevel=2)
        pytest.skip(reason)
    port, controller = free_port(), free_port()
    (folder / "server.properties").write_text(PROPERTIES.format(port=port, controller=controller, folder=folder))
    java = [str(Path(java_home(cache_folder())) / "bin" / "java"), *SMALL, "-cp", os.pathsep.join(map(str, jars))]
    settings, quiet = str(folder / "server.properties"), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "A" * 22, "-c", settings], check=True, timeout=60, **quiet
    )
    with subprocess.Popen([*java, "kafka.Kafka", settings], **quiet) as process:
        try:
            _await(port)
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(port: int) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise AssertionError("the broker does not start")


@dataclass(frozen=True)
class TopicWorld(TableWorld):
    """A topic, and a catalog whose stream reads it."""

    servers: str = ""
    topic: str = ""
    options: tuple[tuple[str, str], ...] = ()
    partitions: int = 2

    def create(self) -> None:
        """Create the topic."""
        from confluent_kafka.admin import NewTopic

        admin = self._admin()
        admin.create_topics([NewTopic(self.topic, self.partitions, 1)])[self.topic].result(30)

    def delete(self) -> None:
        """Delete the topic."""
        admin = self._admin()
        admin.delete_topics([self.topic])[self.topic].result(30)

    def forget(self, offset: int, partition: int = 0) -> None:
        """Delete the first messages of a partition, as Kafka's retention does."""
        from confluent_kafka import TopicPartition

        admin = self._admin()
        for answer in admin.delete_records([TopicPartition(self.topic, partition, offset)]).values():
            answer.result(30)

    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.servers})

    def send(self, values: Sequence[bytes | None], transaction: str = "") -> None:
        """Send messages, in turn to every partition; those of a transaction are committed or aborted."""
        from confluent_kafka import Producer

        producer = Producer(
            {"bootstrap.servers": self.servers} | ({"transactional.id": self.topic} if transaction else {})
        )
        if transaction:
            producer.init_transactions(30)
            producer.begin_transaction()
        for number, value in enumerate(values):
            producer.produce(self.topic, value, partition=number % self.partitions)
        producer.flush(30)
        if transaction:
            (producer.commit_transaction if transaction == "commit" else producer.abort_transaction)(30)

    def source(self) -> dict[str, Any]:
        """The source as the catalog has it."""
        own = {"servers": self.servers, "topic": self.topic, "schema": "ts TIMESTAMP, k STRING, x INT"}
        return {"format": "kafka", "path": str(self.folder / "landed"), "options": own | dict(self.options)}

    def offsets(self, catalog: Catalog) -> list[tuple[int, int]]:
        """Partition and offset of every landed event, sorted."""
        files = list_input_files(catalog.streams[STREAM])
        tables = [pq.read_table(file.path, partitioning=None) for file in files]
        places = [(row["kafka_partition"], row["kafka_offset"]) for table in tables for row in table.to_pylist()]
        return sorted(places)


def messages(table: pa.Table) -> list[bytes]:
    """The rows of a table as JSON."""
    return [json.dumps(row, default=lambda time: time.isoformat()).encode() for row in table.to_pylist()]
