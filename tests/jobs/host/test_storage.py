"""Stores: what is none is refused in one line, and a store that is busy creates nothing."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from tests.worlds.bucket import KEYS, forget_stores


@pytest.mark.parametrize("root", ["gs://bucket/warehouse", "mock:///warehouse", "abfs://c@account/x"])
def test_a_store_that_is_not_known_is_refused(root: str) -> None:
    with pytest.raises(HeddleError, match="use a path, hdfs:// or s3a://"):
        Storage(root).create("manifests/1.json", b"first")


def test_hadoops_own_default_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(HeddleError, match=r"hdfs://: is no HDFS that is known here .*fs.defaultFS"):
        Storage("hdfs:///warehouse").exists("x")


class Busy(BaseHTTPRequestHandler):
    """An S3 on which another put of the same object is under way."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_error(409, "ConditionalRequestConflict")

    def do_GET(self) -> None:
        self.send_error(404, "NoSuchKey")

    def log_message(self, *parts: object) -> None:
        """Say nothing."""


def test_a_put_beside_another_one_creates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 refuses it at once, though the object is not there yet: whose it is cannot be asked."""
    server = HTTPServer(("127.0.0.1", 0), Busy)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"}.items():
        monkeypatch.setenv(name, value)
    forget_stores()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        assert not Storage("s3a://busy/place").create("a/b", b"one")
    finally:
        server.shutdown()
        server.server_close()
        forget_stores()
