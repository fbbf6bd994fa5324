"""Old runs: evaluations are forgotten after a while, runs of registered plans never."""

from __future__ import annotations

import os
import time

from jobs.tracking.registry import history
from jobs.tracking.store import Store
from optimizer.errors import HeddleError

KINDS = ("evaluation", "comparison_run", "comparison", "tree", "replan")
KEEP, DAYS = "HEDDLE_KEEP_RUNS", 90
MOST = 500  # runs of a kind that are forgotten at a time
DAY = 86_400_000  # milliseconds


def days_to_keep() -> int:
    """Return for how many days runs are kept, 90 unless HEDDLE_KEEP_RUNS says otherwise; 0 is for ever."""
    text = os.environ.get(KEEP, "") or str(DAYS)
    if not text.isdecimal():
        raise HeddleError(f"{KEEP}={text!r} is no number of days; write 90, or 0 to keep every run")
    return int(text)


def forget_old_runs(store: Store, stream: str, days: int) -> int:
    """Mark runs of a stream older than so many days as deleted; return how many. `mlflow gc` frees the disk."""
    if not days:
        return 0
    registered = {version.run for version in history(store, stream)}
    before = f"attributes.start_time < {int(time.time() * 1000) - days * DAY}"
    old = [run for kind in KINDS for run in store.runs(stream, kind, before, MOST)]
    runs = [run for run in old if run.info.run_id not in registered]
    for run in runs:
        store.client.delete_run(run.info.run_id)
    return len(runs)
