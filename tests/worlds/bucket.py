"""A bucket of an S3 server on loopback (moto, in an environment of its own), and a stream of readings in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs.host import storage
from jobs.host.cache import cache_folder
from jobs.host.storage import Storage
from tests.worlds.readings import Readings, events, make_world, open_world

BUCKET = "heddle"
MOTO = ("moto==5.2.5", "boto3==1.44.3", "flask==3.1.3", "flask-cors==6.0.5")
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
SERVER = Path(__file__).parent / "bucket_server.py"


@contextmanager
def bucket_server(seconds: float = 0, share: float = 0) -> Iterator[dict[str, str]]:
    """A server whose requests take so long, and such a share of which fails; the environment that names it."""
    command = [str(_python_with_moto()), "-P", str(SERVER), BUCKET, str(seconds), str(share)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://"), "the S3 server does not start"
            patch.setenv("AWS_ENDPOINT_URL", address)
            _forget_stores()
            yield {**KEYS, "AWS_ENDPOINT_URL": address}
        finally:
            server.stdin.close()
            server.wait()
            _forget_stores()


def _forget_stores() -> None:
    """Let stores be reached by the environment as it is now."""
    storage._s3_of.cache_clear()
    storage._object_store.cache_clear()


def _python_with_moto() -> Path:
    """A Python that has moto, made once; without PyPI, what needs it is left out, and says so."""
    place = cache_folder() / "moto"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(python), *MOTO]
        if subprocess.run(install, check=False, capture_output=True).returncode:
            pytest.skip("PyPI is not reached, and moto is not here: S3 is not tried")
        (place / "ready").touch()
    return python


def make_bucket_world(folder: Path, name: str) -> Readings:
    """A stream of readings whose events are in the bucket, below a name."""
    world = make_world(folder)
    catalog = folder / "catalog" / "catalog.yaml"
    catalog.write_text(catalog.read_text().replace(str(folder / "data"), place_of(name, "data")))
    return open_world(world.folder)


def place_of(*names: str) -> str:
    """The address of a folder in the bucket."""
    return f"s3a://{'/'.join((BUCKET, *names))}"


def arrive(name: str, *numbers: int) -> None:
    """Some more files of events."""
    for number in numbers:
        place = Storage(place_of(name, "data"))
        pq.write_table(events(number), place.path(f"part-{number:05d}.parquet"), filesystem=place.filesystem)
