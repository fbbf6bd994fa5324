"""Stores: what is none is refused in one line."""

from __future__ import annotations

import pytest

from jobs.host.storage import Storage
from optimizer.errors import HeddleError


@pytest.mark.parametrize("root", ["gs://bucket/warehouse", "mock:///warehouse", "abfs://c@account/x"])
def test_a_store_that_is_not_known_is_refused(root: str) -> None:
    with pytest.raises(HeddleError, match="use a path, hdfs:// or s3a://"):
        Storage(root).create("manifests/1.json", b"first")


def test_hadoops_own_default_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(HeddleError, match=r"hdfs://: is no HDFS that is known here .*fs.defaultFS"):
        Storage("hdfs:///warehouse").exists("x")
