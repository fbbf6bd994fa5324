"""The newest events of a stream, read as fits it: by this process, or by Spark where only Spark can."""

from __future__ import annotations

from jobs.engine.events.arrow import in_utc
from jobs.engine.events.columns import events_from
from jobs.engine.events.expressions import NotExact
from jobs.engine.sources import list_input_files
from jobs.measure.recent_events import MOST, NEWEST, RecentEvents, measuring_program, recent_events
from jobs.spark.session import Start, in_zone
from jobs.spark.stream_frames import arrived_files, driver_of, stream_frame
from optimizer.catalog.model.catalog import Catalog


def recent_by(start: Start | None, catalog: Catalog, stream: str) -> RecentEvents | None:
    """Return the newest events; None where there are none, or where only Spark can read them and there is none."""
    try:
        return recent_events(catalog, stream)
    except NotExact:
        return recent_on_spark(start, catalog, stream) if start else None


def recent_on_spark(start: Start, catalog: Catalog, stream: str) -> RecentEvents | None:
    """Return the newest events of any stream, its keys and predicates evaluated by Spark."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # has no stubs
    from pyspark.errors import PySparkException

    from jobs.spark.frame_lane import frame_inputs, prepare_inputs

    driver = driver_of(catalog, stream)
    if not driver.in_spark and not (driver.path and list_input_files(driver)):
        return None  # without a word of Spark, which takes a while to start
    program = measuring_program(catalog, stream)
    try:
        files = arrived_files(start(), driver)[-NEWEST:]
        if not files:
            return None
        frame = stream_frame(in_zone(start(), catalog.streams[stream].zone), catalog, stream, files)
        read = in_utc(prepare_inputs(frame, program).limit(MOST).toArrow())
    except (PySparkException, Py4JError):  # the evaluation will complain where it has to
        return None
    events = events_from(frame_inputs(read, program), program)
    names, values = ({each.sql: each.name for each in inputs} for inputs in (program.predicates, program.values))
    return RecentEvents(events, names, values=values) if len(events.times) else None
