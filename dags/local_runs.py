"""Run DAGs as Airflow does, one after another, without a scheduler: `make run` and the tests ask for them by line.

    python -m dags.local_runs        # AIRFLOW_* and HEDDLE_* are set before; heddle/processes.py does

Every line of stdin is a request, {"dag": ..., "conf": {...}}; every line of stdout an answer, {"progress": ...} or,
when the run is over, {"state": ..., "run_id": ..., "failed": [...], "mapped": [...]}, the names of mapped tasks. A
conf that the form would refuse is refused. What Airflow itself prints goes to stderr.
"""

from __future__ import annotations

import copy
import json
import logging
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, MutableMapping
from typing import IO, Any

import structlog

from dags.common import LOG

Answer = Callable[[dict[str, Any]], None]


OWN_LINE = re.compile(r"batch \d+[:,] |asking Spark |comparing ")  # among what Spark and Java write


class ProgressHandler(logging.Handler):
    """Passes on what the steps log, as progress."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer

    def emit(self, record: logging.LogRecord) -> None:
        """Answer with one line of progress."""
        self.answer({"progress": record.getMessage()})


def pass_on_jobs(answer: Answer) -> None:
    """Pass on the lines of a submitted job that are its own, as progress.

    Operators and hooks log by structlog, past the handlers of the standard library. Its list of processors is changed
    in place: a logger that has been used keeps the list that it was made with.
    """

    def tell(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        line = str(event.get("event", "")).strip()
        if OWN_LINE.match(line):
            answer({"progress": line})
        return event

    processors = structlog.get_config()["processors"]
    processors.insert(len(processors) - 1, tell)


def make_answer(stream: IO[str]) -> Answer:
    """Return a function that writes answers to a stream, one JSON line for every answer."""

    def answer(content: dict[str, Any]) -> None:
        stream.write(json.dumps(content) + "\n")
        stream.flush()

    return answer


def run_dag(request: dict[str, Any]) -> dict[str, Any]:
    """Run one DAG from its first task to its last; return its state and what failed."""
    from airflow.dag_processing.dagbag import DagBag
    from airflow.sdk.exceptions import ParamValidationError

    # read again for every run: in one process, the params of a run would stay in the DAG
    dag, conf = DagBag().dags[request["dag"]], request.get("conf") or {}
    for name in dag.params:
        try:
            copy.copy(dag.params.get_param(name)).resolve(*([conf[name]] if name in conf else []))
        except ParamValidationError as error:
            return {"state": "refused", "why": f"{name}: {' '.join(str(error).split())}"}
    dag.deadline = None  # nobody looks after deadlines here, and Airflow 3.3 cannot end a tested run that has one
    run = dag.test(run_conf=conf)
    failed = [(task.task_id, task.map_index) for task in run.get_task_instances() if task.state == "failed"]
    names = sorted({task.rendered_map_index for task in run.get_task_instances() if task.map_index >= 0})
    return {"state": str(run.state), "run_id": run.run_id, "failed": failed, "mapped": names}


def main() -> None:
    """Answer requests until there are no more."""
    answer = make_answer(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    from airflow.dag_processing.dagbag import DagBag
    from airflow.utils.db import initdb

    initdb()
    bag = DagBag()
    LOG.setLevel(logging.INFO)
    LOG.addHandler(ProgressHandler(answer))
    pass_on_jobs(answer)
    answer({"dags": sorted(bag.dags), "errors": bag.import_errors})
    for line in sys.stdin:
        answer(run_dag(json.loads(line)))
    sys.stderr.flush()
    if not multiprocessing.active_children():  # as a plugin of Airflow may have, which would stay behind
        os._exit(0)  # all is written by now, and Python takes seconds to tear Airflow and MLflow down


if __name__ == "__main__":
    main()
