"""A bucket of an S3 server on loopback (moto, in an environment of its own)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jobs.host import storage
from jobs.host.cache import cache_folder
from tests.worlds.store import Store

BUCKET = "heddle"
MOTO = ("moto==5.2.5", "boto3==1.44.3", "flask==3.1.3", "flask-cors==6.0.5")
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
SERVER = Path(__file__).parent / "bucket_server.py"


@contextmanager
def bucket_server(seconds: float = 0, share: float = 0) -> Iterator[Store]:
    """A bucket; requests to its server take so long, and such a share of them fails."""
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
            forget_stores()
            yield Store(f"s3a://{BUCKET}", {**KEYS, "AWS_ENDPOINT_URL": address})
        finally:
            server.stdin.close()
            server.wait()
            forget_stores()


def forget_stores() -> None:
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
