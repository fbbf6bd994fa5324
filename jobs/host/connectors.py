"""Connectors: Spark's own jars for other stores, named and pinned here, fetched once, their checksums checked.

Nothing of Heddle needs them but what reads those stores by Spark itself; Delta and Iceberg streams do not. Those of
kafka and hdfs are whole servers, to try a stream with: Spark's own jars reach HDFS already."""

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


KAFKA = """
org.hdrhistogram HdrHistogram 2.2.2 22d1d4316c4ec13a68b559e98c8256d69071593731da96136640f864fa14fad8
net.sourceforge.argparse4j argparse4j 0.7.0 65ceb669d88f63306c680f8088bbf765bbca72d288a61a03703000076c3d3f56
com.github.ben-manes.caffeine caffeine 3.2.0 ec411dfdf0c03f25218648ce89861630b71680e5858a9a7278ebac8e55cab3d7
commons-validator commons-validator 1.10.1 ed74711a78d793ca37f6075e4a1e93d107233dfd20d0bb17e32bad88d38e56aa
com.fasterxml.jackson.core jackson-annotations 2.21 53ca085f4a150f703f49e1aabd935bd03b43e1ea3d55d135438292af22cef56b
com.fasterxml.jackson.core jackson-core 2.21.2 12e8655b100267b44d0f14d01b1f5082a5105e616174dc4307be1a761e92407b
com.fasterxml.jackson.core jackson-databind 2.21.2 8c982f01f148d805f0aaac2339011244757e0df7c6ff8951f2fa3f433b8ed849
net.sf.jopt-simple jopt-simple 5.0.4 df26cc58f235f477db07f753ba5a3ab243ebe5789d9f89ecf68dd62ea9a66c28
org.apache.kafka kafka-clients 4.3.1 52501b7b47510c66f898871adaf6d2968ab7246561d44ced43643a8a587f0b36
org.apache.kafka kafka-coordinator-common 4.3.1 66a86b8c89718216ffa72fe4e44b9d1bdf3472e4cb9200c36a0742a25febbdba
org.apache.kafka kafka-group-coordinator 4.3.1 4ab56d002e1624185c874199e9e0ffb243dbeb9f68b4d0cadf48ce2f617a1126
org.apache.kafka kafka-group-coordinator-api 4.3.1 d81bc1a3739ff6c9b21815baae00022306342a16d3d94e6a2621201b9980a30d
org.apache.kafka kafka-metadata 4.3.1 4d73a96c6474a4ebdd67a1cee14da1a94cfd6bb9e6e252685ba5667d8ab7f898
org.apache.kafka kafka-raft 4.3.1 46abbf89806dd22d848e997cdfb1431524cab4ec88e38a7d2806e20b24a70609
org.apache.kafka kafka-server 4.3.1 01d736599ec3b0cdbb0480c15219170b28cdae189785e7f0c6f1f26e528eaebc
org.apache.kafka kafka-server-common 4.3.1 d7c719f749579a399011f0df7414de8a78f10f074a6122caa550fdb141351575
org.apache.kafka kafka-share-coordinator 4.3.1 8ceeed7346127e652ea5c650b217890aaff14919f967d27fadce420745bd3066
org.apache.kafka kafka-storage 4.3.1 97e3facddd2914a58f28ec91ef35f8da69963eab3651196e97f487924f6dac98
org.apache.kafka kafka-storage-api 4.3.1 bc2b22639fa554494461d101d599e01bae840d97c4f46e18fdf3d2fe41a47098
org.apache.kafka kafka-transaction-coordinator 4.3.1 c64aaa2a88d8fd382c4800204872917686e542043c7916c9e8797d939d8eb313
org.apache.kafka kafka_2.13 4.3.1 b098abef5ff878e76f60cd6c559b9baa5663ccb1b55f2837558b22c329d32423
org.apache.logging.log4j log4j-api 2.25.4 c4b642a7f047275215de117e0e3847eb2c7711d84a0aa7433e7b3c096daf341d
org.apache.logging.log4j log4j-core 2.25.4 10fee2c0485d54fa44ee75d314f6295508f7b932281873db61a91b88073200e6
at.yawk.lz4 lz4-java 1.10.2 252dabd586d22149a31661a8afc1a50747714eb1a298bd4a6e780c8c91a13866
com.yammer.metrics metrics-core 2.2.0 6b7a14a6f34c10f8683f7b5e2f39df0f07b58c7dff0e468ebbc713905c46979c
org.pcollections pcollections 4.0.2 2bbeef5797a241300c4f7513cd546239629ed7deda4fc0c31df90bb95f5f13ef
com.google.re2j re2j 1.8 7b52c72156dd7f98b3237a5b35c1d34fba381b21048c89208913ad80a45dfbd7
org.scala-lang scala-library 2.13.18 4e85d96ff7bc7dc627985523c3541b9917aaa08e956391380c42db21a2c4e5a0
com.typesafe.scala-logging scala-logging_2.13 3.9.6 0ad0c3f4d89d538b3b6c300158555e266aa69cf1b5f6522aba8b5bad238eb994
org.slf4j slf4j-api 1.7.36 d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0
org.xerial.snappy snappy-java 1.1.10.7 4c766cb3f855415ee734b2392949a0b6f12a60879334a74518deaf6270d32e36
com.github.luben zstd-jni 1.5.6-10 b6c3237e24b8252a5a9c3a0e1ae30ef8f323412e74bd358548b7a9e527d676df
"""
CONNECTORS: dict[str, tuple[Jar, ...]] = {
    "kafka": tuple(Jar(*line.split()) for line in KAFKA.split("\n") if line),
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
    "hdfs": (
        Jar(
            "org.apache.hadoop",
            "hadoop-client-minicluster",
            "3.5.0",
            "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c",
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
