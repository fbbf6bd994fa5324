"""Flink SQL over a CSV file of events, one command a line: run by the Python of an environment of its own.

python flink_job.py EVENTS.csv      then on standard input, each answered by `done`:

    scan                                         one aggregate over all events
    run {"id", "aggregate", "range", "slide"} ...    a JSON list: all queries in one statement set, answers thrown away
    write FOLDER {"id", ...}                     one query's answers as CSV files
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment

COLUMNS = "machine STRING, window_start TIMESTAMP(3), answer DOUBLE"


def open_table(path: str) -> TableEnvironment:
    """Return an environment with the table `events`, whose watermark follows the time exactly."""
    flink = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in (
        ("parallelism.default", "1"),
        ("table.local-time-zone", "UTC"),
    ):
        flink.get_config().set(name, value)
    flink.execute_sql(
        "CREATE TABLE events (ts TIMESTAMP(3), machine STRING, `value` DOUBLE, WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')"
    )
    flink.execute_sql("CREATE TABLE scanned (answer DOUBLE) WITH ('connector' = 'blackhole')")
    flink.execute_sql(f"CREATE TABLE answers ({COLUMNS}) WITH ('connector' = 'blackhole')")
    return flink


def statement(query: dict[str, Any]) -> str:
    """Return a query by Flink's own sliding windows, which share the slices of a window's slide."""
    slide, length = (f"INTERVAL '{query[name]}' SECONDS(9)" for name in ("slide", "range"))
    return (
        f"SELECT machine, window_start, {query['aggregate']}(`value`) FROM "
        f"TABLE(HOP(TABLE events, DESCRIPTOR(ts), {slide}, {length})) GROUP BY machine, window_start, window_end"
    )


def run_all(flink: TableEnvironment, queries: list[dict[str, Any]]) -> None:
    """Run queries in one job, which reads the events once."""
    together = flink.create_statement_set()
    for query in queries:
        together.add_insert_sql(f"INSERT INTO answers {statement(query)}")
    together.execute().wait()


def write_answers(flink: TableEnvironment, folder: str, query: dict[str, Any]) -> None:
    """Write one query's answers."""
    options = f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv'"
    flink.execute_sql(f"CREATE TABLE kept ({COLUMNS}) WITH ({options})")
    flink.execute_sql(f"INSERT INTO kept {statement(query)}").wait()


def main(path: str) -> None:
    """Do what the lines say."""
    flink = open_table(path)
    for line in sys.stdin:
        what, _, rest = line.strip().partition(" ")
        if what == "scan":
            flink.execute_sql("INSERT INTO scanned SELECT max(`value`) FROM events WHERE `value` > 1e9").wait()
        elif what == "run":
            run_all(flink, json.loads(rest))
        elif what == "write":
            folder, _, query = rest.partition(" ")
            write_answers(flink, folder, json.loads(query))
        print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
