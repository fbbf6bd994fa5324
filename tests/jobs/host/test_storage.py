"""Small files on a file system that is not the local disk: Arrow's own, in memory."""

from __future__ import annotations

from jobs.host.storage import Storage


def test_a_file_is_created_once_and_whole_beyond_the_local_disk() -> None:
    storage = Storage("mock:///warehouse")
    assert not storage.local
    assert storage.create("manifests/1.json", b"first")
    assert not storage.create("manifests/1.json", b"second")
    assert storage.read("manifests/1.json") == b"first"
    assert list(storage.names("manifests")) == ["manifests/1.json"]
    assert list(storage.drafts("manifests")) == []
