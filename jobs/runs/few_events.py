"""Whether a run is better off without Spark: events are few, and the engine alone can evaluate all of it."""

from __future__ import annotations

import pyarrow.parquet as pq

from jobs.engine.sources import land_events, list_input_files
from jobs.engine.warehouse.lifecycle import CHECKPOINT, TAKEN, stream_storage
from jobs.runs.lanes import spark_has_work
from jobs.runs.request import Request
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError

FEW = 1_000_000  # events: a second or two in one process, less than Spark takes to start
FILES = 256


def reason_for_one_process(request: Request) -> str:
    """Return the line that says why a run takes no Spark; "" where it takes one.

    A warehouse stays with the engine that it was begun with.
    """
    if request.options.interval or request.options.lane == "frame":
        return ""
    storage = stream_storage(request.warehouse, request.stream)
    try:
        catalog = load_catalog(request.catalog)
        catalog.of_stream(request.stream)
        if any(storage.names(CHECKPOINT)) or spark_has_work(catalog, request.stream, request.options.lane):
            return ""
        if any(storage.names(TAKEN)) and not catalog.streams[request.stream].has_log:
            return "in this process, as this warehouse was begun; another --warehouse may be Spark's"
        land_events(catalog.streams[request.stream])
        paths = [file.path for file in list_input_files(catalog.streams[request.stream])]
        events = sum(pq.read_metadata(path).num_rows for path in paths) if len(paths) <= FILES else FEW + 1
    except (HeddleError, OSError, ValueError):  # the run itself says what is wrong
        return ""
    return f"{events:,} events are few: in this process, without Spark (--master names one)" if events <= FEW else ""
