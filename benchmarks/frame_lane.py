"""The frame lane in a process of its own, whose JVM compiles its code as for streams that Spark itself reads.

python -m benchmarks.frame_lane FOLDER      (FOLDER holds data/ and catalog/)
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.engine_world import RATE, World, measured
from jobs.runs.request import Options
from jobs.spark.session import JAVA_OPTIONS, java_options, spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.planning.stream import plan_stream


def frame_lane(root: Path) -> float:
    """CPU seconds of a job."""
    command = [sys.executable, "-m", "benchmarks.frame_lane", str(root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout)


def main(root: str) -> None:
    """Print the CPU seconds."""
    spark = spark_session("local[2,4]", {JAVA_OPTIONS: java_options(working=True)})
    catalog = load_catalog(Path(root) / "catalog")
    here = World(Path(root), catalog, plan_stream(catalog, "events", RATE, "weave_share", "two_stacks_block"))
    print(*measured(lambda: here.job(spark, Options(lane="frame")), times=3, warm=3, clear=here.clear))


if __name__ == "__main__":
    main(*sys.argv[1:])
