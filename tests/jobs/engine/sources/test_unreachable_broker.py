"""A broker that is down is asked again by a DAG; one that refuses is not: no later try has more rights."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from jobs.engine.sources import kafka
from optimizer.errors import HeddleError, UnreachableError
from tests.worlds.broker import TopicWorld
from tests.worlds.tables import STREAM


@pytest.fixture
def world(tmp_path: Path) -> TopicWorld:
    """A topic of a broker that is not there."""
    pytest.importorskip("confluent_kafka")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return TopicWorld(tmp_path, "kafka", f"127.0.0.1:{port}", "readings")


def test_a_broker_that_is_down_may_be_asked_again(
    world: TopicWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "PATIENCE", 0.5)
    with pytest.raises(UnreachableError, match=r"cannot be read \(.*\); start it, or mend `servers`$"):
        world.evaluate(world.catalog())
    assert not (tmp_path / "landed").exists()


@pytest.mark.parametrize("code", ["TOPIC_AUTHORIZATION_FAILED", "SASL_AUTHENTICATION_FAILED", "_AUTHENTICATION"])
def test_a_broker_that_refuses_is_not_asked_again(world: TopicWorld, code: str) -> None:
    from confluent_kafka import KafkaError

    error = kafka._refused_or_down(world.catalog().streams[STREAM], KafkaError(getattr(KafkaError, code)))
    assert type(error) is HeddleError
    assert str(error).endswith("ask for the right to read it, or mend HEDDLE_KAFKA_*")


def test_a_moment_without_a_leader_is_no_refusal(world: TopicWorld) -> None:
    from confluent_kafka import KafkaError

    error = kafka._refused_or_down(world.catalog().streams[STREAM], KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
    assert isinstance(error, UnreachableError)
