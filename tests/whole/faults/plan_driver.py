"""The process that dies: evaluates the catalog and the plan of a folder on Spark.

python -m tests.whole.faults.plan_driver FOLDER WAREHOUSE
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from jobs.host.stops import KILL_AT
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from jobs.spark.session import spark_session
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from tests.whole.faults.spark_driver import MASTER


def main(folder: Path, warehouse: str) -> None:
    """Evaluate; orders that name the driver get the id of this process."""
    for order in Path(os.environ[KILL_AT]).iterdir():
        if order.read_text() == "driver":
            order.write_text(str(os.getpid()))
    plan = Plan.from_json((folder / "plan.json").read_text())
    evaluate(spark_session(MASTER), load_catalog(folder / "catalog"), plan, warehouse, Options(files_per_batch=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
