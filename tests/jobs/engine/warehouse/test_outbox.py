"""The outbox: whoever wants what is published gets every file once, in order, from where it began."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.engine.warehouse.manifest import DataFile, Manifest, commit
from jobs.engine.warehouse.outbox import (
    Standing,
    begin_with_new,
    enter_published,
    forget_publications,
    mark,
    mergeable_files,
    newest_publication,
    publications_for,
    standing,
    waiting_files,
    waiting_for,
)
from jobs.host.storage import Storage
from optimizer.errors import HeddleError


class Published:
    """A warehouse in which every batch publishes one file."""

    def __init__(self, folder: Path) -> None:
        self.storage = Storage(str(folder))
        for name in ("manifests", "outbox", "outbox_marks", "ledger"):
            self.storage.make_folder(name)
        self.files: list[DataFile] = []

    def publish(self) -> None:
        """Commit one more batch."""
        batch = len(self.files)
        self.files.append(DataFile(f"results/{batch}.parquet", 0, 1, batch))
        commit(self.storage, Manifest(sequence=batch, batch=batch, results=tuple(self.files)))

    def got_by(self, reader: str) -> list[str]:
        """What a reader gets now; it marks all of it."""
        waiting = waiting_for(self.storage, reader)
        for publication in waiting:
            mark(self.storage, reader, publication.number)
        return [file.name for publication in waiting for file in publication.files]


@pytest.fixture
def warehouse(tmp_path: Path) -> Published:
    return Published(tmp_path)


def test_every_file_comes_once_and_in_order(warehouse: Published) -> None:
    assert warehouse.got_by("sink") == []
    for _ in range(3):
        warehouse.publish()
    enter_published(warehouse.storage)
    assert warehouse.got_by("sink") == ["results/0.parquet", "results/1.parquet", "results/2.parquet"]
    assert warehouse.got_by("sink") == []
    warehouse.publish()
    enter_published(warehouse.storage)
    assert warehouse.got_by("sink") == ["results/3.parquet"]


def test_a_reader_that_joins_later_begins_with_all_answers_or_with_the_new_ones(warehouse: Published) -> None:
    warehouse.publish()
    enter_published(warehouse.storage)  # the outbox begins with a file that was public before
    begin_with_new(warehouse.storage, "alerts")
    warehouse.publish()
    enter_published(warehouse.storage)
    assert warehouse.got_by("sink") == ["results/0.parquet", "results/1.parquet"]
    assert warehouse.got_by("alerts") == ["results/1.parquet"]


def test_how_far_a_reader_is(warehouse: Published) -> None:
    warehouse.publish()
    assert standing(warehouse.storage, "sink") == Standing(None, 1)
    warehouse.got_by("sink")
    warehouse.publish()
    assert standing(warehouse.storage, "sink") == Standing(0, 1), "batch 1 is public, and not yet entered"
    enter_published(warehouse.storage)
    warehouse.got_by("sink")
    assert standing(warehouse.storage, "sink") == Standing(1, 0)


def test_only_files_that_are_entered_may_be_merged(warehouse: Published) -> None:
    warehouse.publish()
    assert mergeable_files(warehouse.storage, warehouse.files) == tuple(warehouse.files), "nobody wants them"
    enter_published(warehouse.storage)
    warehouse.publish()
    assert mergeable_files(warehouse.storage, warehouse.files) == tuple(warehouse.files[:1])


def test_what_all_readers_have_got_is_forgotten(warehouse: Published) -> None:
    for reader in ("sink", "alerts"):
        warehouse.got_by(reader)
    for _ in range(3):
        warehouse.publish()
    enter_published(warehouse.storage)
    warehouse.got_by("sink")
    forget_publications(warehouse.storage, ["sink", "alerts"])
    assert waiting_files(warehouse.storage) == {file.name for file in warehouse.files}, "alerts has got nothing yet"
    warehouse.got_by("alerts")
    forget_publications(warehouse.storage, ["sink", "alerts"])
    assert waiting_files(warehouse.storage) == {"results/2.parquet"}
    head = newest_publication(warehouse.storage)
    assert head is not None
    assert head.number == 3


def test_a_reader_that_nobody_named_meanwhile_is_refused(warehouse: Published) -> None:
    """What it missed is gone, so its table would lack rows."""
    warehouse.got_by("sink")
    warehouse.got_by("old")
    for _ in range(3):
        warehouse.publish()
    enter_published(warehouse.storage)
    warehouse.got_by("sink")
    forget_publications(warehouse.storage, ["sink"])
    with pytest.raises(HeddleError, match=r"old has missed publications 1 to 2, .* give it another name"):
        publications_for(warehouse.storage, "old")
