"""A real HDFS on loopback: a name node and a data node of Maven's jar, on the classes that Spark comes with."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jobs.host import hdfs
from jobs.host.cache import cache_folder
from jobs.host.connectors import install_connector
from jobs.host.spark_runtime import java_home
from jobs.host.storage import Storage
from jobs.spark.session import spark_home
from optimizer.errors import HeddleError
from tests.worlds.broker import free_port
from tests.worlds.store import Store
from tests.worlds.unsteady import Unsteady, unsteady_way

LOOPBACK, OTHER_LOOPBACK = "127.0.0.1", "127.0.0.2"
SERVERS = "org.apache.hadoop.hdfs.server"
SMALL = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
BY_NAME = {"dfs.client.use.datanode.hostname": "true"}


@contextmanager
def name_node(seconds: float = 0, share: float = 0) -> Iterator[Store]:
    """An HDFS; requests to its nodes take so long, and such a share of them fails. Left out, with one line, where its
    jar cannot be fetched."""
    try:
        jars = install_connector("hdfs", lambda line: None)
    except HeddleError as error:
        reason = f"left out: {error}"
        warnings.warn(reason, stacklevel=2)
        pytest.skip(reason)
    ports = free_port(), free_port()
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        classes = os.pathsep.join([str(folder), *map(str, jars), f"{spark_home()}/jars/*"])
        java = [str(Path(java_home(cache_folder())) / "bin" / "java"), *SMALL, "-cp", classes]
        _write_settings(folder / "hdfs-site.xml", _settings(folder, *ports))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*java, f"{SERVERS}.namenode.NameNode", "-format"], check=True, timeout=120, **quiet)
        for node in ("namenode.NameNode", "datanode.DataNode"):
            stack.callback(_end, subprocess.Popen([*java, f"{SERVERS}.{node}"], **quiet))
        _await(ports[0])
        yield stack.enter_context(_reached(folder, ports, seconds, share))


@contextmanager
def _reached(folder: Path, ports: tuple[int, int], seconds: float, share: float) -> Iterator[Store]:
    """The store as it is reached: at once, or by ways on which requests take long and fail."""
    if not seconds and not share:
        yield Store(f"{hdfs.SCHEME}{LOOPBACK}:{ports[0]}")
        return
    names, data = Unsteady(ports[0], seconds, share, True), Unsteady(ports[1], seconds, share, False)
    client, port = folder / "client", free_port()
    client.mkdir()
    _write_settings(client / "hdfs-site.xml", BY_NAME)
    with (
        pytest.MonkeyPatch.context() as patch,
        unsteady_way(names, LOOPBACK, port),
        unsteady_way(data, OTHER_LOOPBACK, ports[1]),
    ):
        patch.setenv("HADOOP_CONF_DIR", str(client))
        yield Store(f"{hdfs.SCHEME}{LOOPBACK}:{port}", {"HADOOP_CONF_DIR": str(client)})
    assert names.failures
    assert data.failures


def _settings(folder: Path, names: int, data: int) -> dict[str, str]:
    """The settings of both nodes. The data node says that it is at another address, for those who ask by name."""
    return {
        "fs.defaultFS": f"{hdfs.SCHEME}{LOOPBACK}:{names}",
        "dfs.namenode.name.dir": str(folder / "names"),
        "dfs.datanode.data.dir": str(folder / "data"),
        "dfs.namenode.rpc-address": f"{LOOPBACK}:{names}",
        "dfs.namenode.http-address": f"{LOOPBACK}:0",
        "dfs.datanode.address": f"{LOOPBACK}:{data}",
        "dfs.datanode.http.address": f"{LOOPBACK}:0",
        "dfs.datanode.ipc.address": f"{LOOPBACK}:0",
        "dfs.datanode.hostname": OTHER_LOOPBACK,
        "dfs.replication": "1",
        "dfs.permissions.enabled": "false",
    }


def _write_settings(file: Path, settings: Mapping[str, str]) -> None:
    entries = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items())
    text = f"<configuration>{''.join(entries)}</configuration>"
    file.write_text(text)
    file.with_name("core-site.xml").write_text(text)


def _end(node: subprocess.Popen[bytes]) -> None:
    node.kill()
    node.wait()


def _await(port: int) -> None:
    """Wait until both nodes serve."""
    storage = Storage(f"{hdfs.SCHEME}{LOOPBACK}:{port}/there")
    for number in range(5):  # each of which is tried for half a minute
        try:
            storage.create(f"file-{number}", b"there")
        except HeddleError as error:
            reason = error
        else:
            return
    raise AssertionError("HDFS does not start") from reason
