"""Landing a topic and evaluating it against Spark's own copy of the topic to Parquet: CPU seconds, with a real broker.

Each side runs in a process of its own, beside the broker, which counts for neither: a topic that is new to it, round
after round; the best counts, so that Spark's Java is warm. Spark copies in two ways: `as they come` (key, value and
offset, bytes and nothing else), and `as columns`, which is what landing writes, by from_json.

Spark's connector of its own release is not on Maven Central; this is the one of 4.2.0 with the token provider of 4.0.0,
a mixture that reads here and is nothing to give to users (docs/decisions/0036-topics-by-a-client.md).

    python -m benchmarks.topics [--events 1000000] [--queries 100] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.engine_world import RATE, middle_point, show, write_events, write_queries
from jobs.host.connectors import CONNECTORS, Jar, install_connector
from jobs.host.machine import CpuMeter
from jobs.runs.in_process import evaluate_local
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream

BOUND = 1.5
TOPIC, PARTITIONS, STREAM = "events", 4, "events"
SCHEMA = "ts TIMESTAMP, machine STRING, value DOUBLE"
SPARK, TOKENS = "spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13"
JARS = (
    Jar("org.apache.spark", SPARK, "4.2.0", "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705"),
    Jar("org.apache.spark", TOKENS, "4.0.0", "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767"),
    Jar(
        "org.apache.kafka", "kafka-clients", "3.9.1", "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9"
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
)


def send(servers: str, data: Path) -> None:
    """Send the events of a folder as JSON."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, "queue.buffering.max.messages": 10**6})
    for file in sorted(data.iterdir()):
        for number, row in enumerate(pq.read_table(file).to_pylist()):
            value = json.dumps({**row, "ts": row["ts"].isoformat()}).encode()
            producer.produce(TOPIC, value, partition=number % PARTITIONS)
        producer.flush(60)


def best_cpu(run: Callable[[Path], object], root: Path, rounds: int) -> float:
    """Return the least CPU seconds of some rounds, each into a folder of its own."""
    spent = []
    for _ in range(rounds):
        folder = root / uuid.uuid4().hex
        with CpuMeter(poll_seconds=0.05) as meter:
            run(folder)
        spent.append(meter.cpu_seconds)
        shutil.rmtree(folder)
    return min(spent)


def land(root: Path, servers: str, rounds: int) -> dict[str, float]:
    """Land the topic and evaluate the queries."""
    catalog = load_catalog(root / "catalog")
    options = {"servers": servers, "topic": TOPIC, "schema": SCHEMA}

    def run(folder: Path) -> None:
        landed = replace(catalog.streams[STREAM], format="kafka", path=str(folder / "landed"), options=options)
        own = replace(catalog, streams={STREAM: landed})
        report = evaluate_local(own, plan_stream(own, STREAM, RATE), str(folder / "warehouse"))
        assert report.events == sum(pq.read_metadata(file).num_rows for file in (root / "data").iterdir()), report

    return {"heddle": best_cpu(run, root, rounds)}


def copy(root: Path, servers: str, rounds: int) -> dict[str, float]:
    """Copy the topic by Spark, as messages come and as columns."""
    from pyspark.sql import functions as F  # noqa: N812 (as everyone writes it)

    jars = ",".join(map(str, install_connector("spark_kafka", print)))
    spark = spark_session("local[2]", {"spark.jars": jars})
    options = {"kafka.bootstrap.servers": servers, "subscribe": TOPIC, "startingOffsets": "earliest"}

    def as_they_come(folder: Path) -> None:
        spark.read.format("kafka").options(**options).load().write.parquet(str(folder))

    def as_columns(folder: Path) -> None:
        read = spark.read.format("kafka").options(**options).load()
        columns = F.from_json(F.col("value").cast("string"), SCHEMA).alias("event")
        read.select(columns, "partition", "offset").select("event.*", "partition", "offset").write.parquet(str(folder))

    return {run.__name__: best_cpu(run, root, 2 * rounds) for run in (as_they_come, as_columns)}


def main() -> None:
    """Start a broker, send, measure both sides apart, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--side", nargs=3, metavar=("SIDE", "FOLDER", "SERVERS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    CONNECTORS["spark_kafka"] = JARS
    if options.side:
        side, folder, servers = options.side
        print(json.dumps({"land": land, "copy": copy}[side](Path(folder), servers, options.rounds)))
        return
    from tests.worlds.broker import kafka_broker

    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as kafka,
        kafka_broker(Path(kafka)) as servers,
    ):
        root = Path(folder)
        write_events(root / "data", options.events, 10)
        write_queries(root / "catalog", middle_point(options.queries), True)
        send(servers, root / "data")
        seconds: dict[str, float] = {}
        for side in ("land", "copy"):
            command = [sys.executable, "-m", "benchmarks.topics", "--rounds", str(options.rounds)]
            done = subprocess.run([*command, "--side", side, folder, servers], stdout=subprocess.PIPE, check=True)
            seconds |= json.loads(done.stdout.splitlines()[-1])
        ours = seconds.pop("heddle")
        for name, theirs in seconds.items():
            detail = f"{ours:.2f} s; {theirs:.2f} s; {options.events:,} messages, {options.queries} queries"
            show(
                f"landed and evaluated / Spark's copy {name.replace('_', ' ')}",
                ours / theirs,
                f"at most {BOUND}",
                detail,
            )


if __name__ == "__main__":
    main()
