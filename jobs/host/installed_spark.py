"""Spark's Python code from its package, instead of from the archive that Spark puts before it.

Spark starts Python with pyspark.zip first on its path: sources, which every process compiles anew for more than a CPU
second. Where the archive lies inside a package that is on the path as well, that one is the same code, compiled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

ARCHIVE = os.path.join("python", "lib", "pyspark.zip")  # below the package


def prefer_installed_spark() -> None:
    """Take the archive off Python's path; to be called before pyspark is imported."""
    sys.path[:] = without_archive(sys.path)


def without_archive(places: Sequence[str]) -> list[str]:
    """Return the places without archives of a pyspark that is found in another of the places; other ones stay."""
    packages = [os.path.join(os.path.realpath(place), "pyspark") for place in places]
    archives = {os.path.join(each, ARCHIVE) for each in packages if os.path.isfile(os.path.join(each, "__init__.py"))}
    return [place for place in places if os.path.realpath(place) not in archives]
