"""Connectors: Spark's own jars for other stores, named and pinned here, fetched once, their checksums checked.

Nothing of Heddle needs them but what reads those stores by Spark itself; Delta and Iceberg streams do not."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jobs.host.cache import cache_folder
from jobs.host.say import Say
from optimizer.errors import HeddleError, did_you_mean

CENTRAL = "https://repo1.maven.org/maven2"
MIRROR = "HEDDLE_MAVEN"  # another repository with the same layout
PIECE = 1 << 20  # bytes


class Jar(NamedTuple):
    """A jar of Maven Central."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Where it is in a repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file}"


CONNECTORS: dict[str, tuple[Jar, ...]] = {
    "delta": (
        Jar(
            "io.delta",
            "delta-spark_4.2_2.13",
            "4.4.0",
            "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
        ),
        Jar("io.delta", "delta-storage", "4.4.0", "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"),
        Jar(
            "io.delta", "delta-kernel-api", "4.4.0", "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11"
        ),
        Jar(
            "io.delta",
            "delta-kernel-defaults",
            "4.4.0",
            "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
        ),
        Jar(
            "io.delta",
            "delta-kernel-unitycatalog",
            "4.4.0",
            "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
        ),
    ),
    "iceberg": (
        Jar(
            "org.apache.iceberg",
            "iceberg-spark-runtime-4.1_2.13",
            "1.11.0",
            "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242",
        ),
    ),
    "s3": (
        Jar(
            "org.apache.hadoop",
            "hadoop-aws",
            "3.5.0",
            "66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa",
        ),
        Jar(
            "software.amazon.awssdk",
            "bundle",
            "2.35.4",
            "db4b55f24ad1b4e70f17eb1717a4de76a8dadc5a27d764be7c44ff67b2c1c677",
        ),
        Jar(
            "software.amazon.s3.analyticsaccelerator",
            "analyticsaccelerator-s3",
            "1.3.1",
            "4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e",
        ),
    ),
}


def jar_folder() -> Path:
    """Return where fetched jars are kept."""
    return cache_folder() / "jars"


def installed_jars(connector: str, folder: Path | None = None) -> list[Path]:
    """Return the jars of a connector, or none if some are not there."""
    place = folder or jar_folder()
    files = [place / jar.file for jar in CONNECTORS[connector]]
    return files if all(file.is_file() for file in files) else []


def install_connector(connector: str, say: Say, folder: Path | None = None) -> list[Path]:
    """Fetch the jars of a connector that are not there yet; return all of them."""
    if connector not in CONNECTORS:
        right = did_you_mean(connector, CONNECTORS, f"connectors: {', '.join(CONNECTORS)}")
        raise HeddleError(f"there is no connector {connector!r}; {right}")
    place = folder or jar_folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return [_install(jar, place, say) for jar in CONNECTORS[connector]]


def _install(jar: Jar, folder: Path, say: Say) -> Path:
    file = folder / jar.file
    if file.is_file() and _digest(file) == jar.sha256:
        return file
    draft = file.with_suffix(f".{os.getpid()}.part")
    try:
        _fetch(jar, draft)
        if _digest(draft) != jar.sha256:
            raise HeddleError(
                f"{jar.file}: the checksum is not the one that is pinned; what {MIRROR} serves is another file"
            )
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    say(f"{file} ({file.stat().st_size >> 10} KB)")
    return file


def _fetch(jar: Jar, draft: Path) -> None:
    base = (os.environ.get(MIRROR) or CENTRAL).rstrip("/")
    if not base.startswith(("https://", "http://", "file:///")):
        raise HeddleError(f"{MIRROR} is {base!r}; give the address of a Maven repository, or leave it out")
    try:
        with urllib.request.urlopen(f"{base}/{jar.path}", timeout=60) as answer, draft.open("wb") as out:
            while piece := answer.read(PIECE):
                out.write(piece)
    except (OSError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", None) or error
        raise HeddleError(
            f"{jar.file}: cannot be fetched from {base} ({reason}); name a mirror of Maven Central in {MIRROR}"
        ) from None


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def jar_setting(connectors: Sequence[str]) -> dict[str, str]:
    """Return the setting of a Spark session that has the jars of some connectors; refuse those that are not there."""
    missing = [name for name in connectors if not installed_jars(name)]
    if missing:
        raise HeddleError(f"the connector {missing[0]} is not installed; run heddle connectors install {missing[0]}")
    jars = [str(file) for name in connectors for file in installed_jars(name)]
    return {"spark.jars": ",".join(jars)} if jars else {}
