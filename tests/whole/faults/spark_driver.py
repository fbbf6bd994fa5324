"""The process that dies: evaluates a world on Spark, and tells those who kill which processes it runs in.

    python -m tests.whole.faults.spark_driver WORLD WAREHOUSE...

A file of the orders' folder that says `driver` or `jvm` gets that process's id instead. Several warehouses are
evaluated one after another; before each, the orders of the folder of the same name are moved into force.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from jobs.host.stops import KILL_AT
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from jobs.spark.session import spark_session
from optimizer.errors import HeddleError
from tests.worlds.readings import open_world

MASTER = "local[2,4]"  # two cores, as the tests' own session; four attempts of a task


def main(folder: Path, warehouses: list[str]) -> int:
    """Evaluate; a user's error is a line and exit code 2."""
    world, spark = open_world(folder), spark_session(MASTER)
    victims = {"driver": os.getpid(), "jvm": spark._jvm.java.lang.ProcessHandle.current().pid()}
    for warehouse in warehouses:
        for order in (folder / f"orders of {Path(warehouse).name}").iterdir():
            text = order.read_text()
            order.write_text(str(victims.get(text, text)))
            order.rename(Path(os.environ[KILL_AT]) / order.name)
        try:
            evaluate(spark, world.catalog, world.plan, warehouse, Options("file", files_per_batch=1))
        except HeddleError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
