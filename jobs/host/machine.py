"""This machine as far as speed goes: a fingerprint that tells its runs from those of another."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import psutil

LIBRARIES = ("numba", "numpy", "pyarrow", "pyspark")
GIBIBYTE = 1 << 30


@cache
def machine_facts() -> dict[str, str]:
    """Return what makes a machine fast or slow: processor, cores, memory, and the versions of what runs on it."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
        "memory": f"{round(psutil.virtual_memory().total / GIBIBYTE)} GiB",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def machine_fingerprint() -> str:
    """Return the fingerprint of this machine."""
    return fingerprint_of(machine_facts())


def fingerprint_of(facts: Mapping[str, str]) -> str:
    """Return a digest of a machine's facts, "" of none; two machines with the same one are equally fast.

    >>> len(fingerprint_of({"cores": "2"})), fingerprint_of({"cores": "2"}) == fingerprint_of({"cores": "4"})
    (12, False)
    """
    text = "\n".join(f"{name} {value}" for name, value in sorted(facts.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12] if facts else ""


def _processor() -> str:
    """Return the processor's name; platform.processor() says only its architecture on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
