"""Programs from Debian's packages, which some tests need and may install."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from glob import glob

import pytest

WAIT = ["-o", "DPkg::Lock::Timeout=300"]  # another test process may be installing


def program(pattern: str, *packages: str) -> str:
    """The newest program that the pattern finds, installed when that may be done; else the test is left out."""
    if not glob(pattern) and os.geteuid() == 0 and shutil.which("apt-get"):
        install(*packages)
    found = sorted(glob(pattern))
    if not found:
        reason = f"left out: {pattern} is missing and could not be installed (apt-get install {' '.join(packages)})"
        warnings.warn(reason, stacklevel=2)
        pytest.skip(reason)
    return found[-1]


def install(*packages: str) -> None:
    """Try to install packages; whether it worked shows in what is there afterwards."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-q", *WAIT, *command], env=quiet, capture_output=True, check=False)
