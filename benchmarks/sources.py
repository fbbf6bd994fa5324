"""`heddle.run` on a pandas frame against pandas, polars and DuckDB, in one run, answers compared.

Every peer answers in two ways. `alone`: every query on its own and at its best, events aggregated to its slide first.
`by hand`: as somebody writes it who has found out that all windows are multiples of five seconds: one aggregation of
the events for all queries. CPU seconds of this process with all its threads.

    python -m benchmarks.sources [--events 5000000] [--windows 100]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import heddle

MACHINES = 10
STEP = 5  # seconds: every range and slide is a multiple of it
SLIDES = (10, 15, 20, 30, 60)
Answers = Mapping[str, pd.DataFrame]  # by query: machine, at, v


@dataclass(frozen=True)
class Question:
    """One query: an aggregate of `value` by machine over so many seconds, every so many."""

    name: str
    aggregate: str
    range: int
    slide: int

    @property
    def sql(self) -> str:
        """The query as Spark SQL."""
        return (
            f"SELECT machine, window.start AS at, {self.aggregate}(value) AS v FROM events "
            f"GROUP BY machine, window(ts, '{self.range} seconds', '{self.slide} seconds')"
        )


def make_questions(count: int) -> list[Question]:
    """Return windows of 1 to 50 minutes, half of them maxima and half of them sums."""
    return [
        Question(f"q{number}", ("max", "sum")[number % 2], 60 * (1 + number // 2 % 50), SLIDES[number // 2 % 5])
        for number in range(count)
    ]


def make_events(count: int) -> pd.DataFrame:
    """Return a day of events whose values are whole numbers, so that sums are exact in any order."""
    pick = np.random.default_rng(1)
    times = np.sort(pick.integers(0, 86_400 * 10**6, count)).astype("timedelta64[us]")
    return pd.DataFrame(
        {
            "ts": np.datetime64("2026-01-01", "us") + times,
            "machine": pick.integers(0, MACHINES, count),
            "value": pick.integers(0, 1000, count).astype(np.float64),
        }
    )


def by_heddle(events: pd.DataFrame, questions: list[Question]) -> Answers:
    """All queries in one call."""
    return heddle.run(events, {question.name: question.sql for question in questions})


def by_pandas(events: pd.DataFrame, questions: list[Question], step: int | None = None) -> Answers:
    """Machines as columns of one frame of steps; every query is a rolling sum or maximum over them."""
    shared = _pandas_steps(events, step, ["max", "sum"]) if step else None
    answers = {}
    for question in questions:
        length = step or question.slide
        steps = shared if shared is not None else _pandas_steps(events, length, [question.aggregate])
        more = pd.Timedelta(seconds=question.range)
        index = pd.date_range(steps.index[0] - more, steps.index[-1] + more, freq=f"{length}s")
        rolled = steps[question.aggregate].reindex(index).rolling(question.range // length, min_periods=1)
        values = rolled.max() if question.aggregate == "max" else rolled.sum()
        values.index = values.index - pd.Timedelta(seconds=question.range - length)
        due = values[values.index.floor(f"{question.slide}s") == values.index]
        answers[question.name] = due.stack().rename("v").rename_axis(["at", "machine"]).reset_index()
    return answers


def _pandas_steps(events: pd.DataFrame, seconds: int, aggregates: list[str]) -> pd.DataFrame:
    return events.groupby([events.ts.dt.floor(f"{seconds}s"), "machine"]).value.agg(aggregates).unstack("machine")


def by_polars(events: pl.DataFrame, questions: list[Question], step: int | None = None) -> Answers:
    """Steps first, then group_by_dynamic over them; all queries are collected together."""
    shared = _polars_steps(events, step, ["max", "sum"]).collect() if step else None
    plans = [
        (shared.lazy() if shared is not None else _polars_steps(events, question.slide, [question.aggregate]))
        .group_by_dynamic(
            "ts",
            every=f"{question.slide}s",
            period=f"{question.range}s",
            offset=f"-{question.range - question.slide}s",  # with the windows that began before the first event
            group_by="machine",
            start_by="window",
        )
        .agg(getattr(pl.col(question.aggregate), question.aggregate)().alias("v"))
        .rename({"ts": "at"})
        for question in questions
    ]
    return dict(zip((question.name for question in questions), pl.collect_all(plans), strict=True))


def _polars_steps(events: pl.DataFrame, seconds: int, aggregates: list[str]) -> pl.LazyFrame:
    folds = [getattr(pl.col("value"), name)().alias(name) for name in aggregates]
    return events.lazy().group_by("machine", pl.col("ts").dt.truncate(f"{seconds}s")).agg(*folds).sort("machine", "ts")


def by_duckdb(events: pd.DataFrame, questions: list[Question], step: int | None = None) -> Answers:
    """Steps first, then a frame of rows over all steps of a machine, those without events included."""
    database = duckdb.connect()
    database.register("events", events)
    source = "(SELECT machine, ts, value AS max, value AS sum FROM events)"
    if step:
        source = "steps"
        database.execute(
            f"CREATE TABLE steps AS SELECT machine, time_bucket(INTERVAL '{step} seconds', ts) AS ts, "
            "max(value) AS max, sum(value) AS sum FROM events GROUP BY ALL"
        )
    answers = {}
    for question in questions:
        fold, slide = question.aggregate, f"INTERVAL '{question.slide} seconds'"
        answers[question.name] = (
            database.execute(
                f"WITH parts AS (SELECT machine, time_bucket({slide}, ts) AS since, {fold}({fold}) AS v FROM {source} "
                "GROUP BY ALL), "
                "ends AS (SELECT machine, min(since) AS lo, max(since) AS hi FROM parts GROUP BY machine), "
                "starts AS (SELECT machine, unnest(generate_series("
                f"lo - INTERVAL '{question.range - question.slide} seconds', hi, {slide})) AS since FROM ends), "
                "filled AS (SELECT machine, since, v FROM starts LEFT JOIN parts USING (machine, since)) "
                f"SELECT machine, since, {fold}(v) OVER (PARTITION BY machine ORDER BY since "
                "ROWS BETWEEN CURRENT ROW AND "
                f"{question.range // question.slide - 1} FOLLOWING) AS answer FROM filled QUALIFY answer IS NOT NULL"
            )
            .df()
            .rename(columns={"since": "at", "answer": "v"})
        )
    database.close()
    return answers


def measure(answer: Callable[[], Answers]) -> tuple[float, Answers]:
    """Return CPU seconds and answers."""
    started = time.process_time()
    answers = answer()
    return time.process_time() - started, answers


def check_equal(ours: Answers, theirs: Answers, peer: str) -> None:
    """Stop where a peer has other rows."""
    for name, expected in ours.items():
        frame = theirs[name].to_pandas() if isinstance(theirs[name], pl.DataFrame) else theirs[name]
        both = [
            table.assign(at=table["at"].astype("datetime64[us]")).sort_values(["at", "machine"])[["at", "machine", "v"]]
            for table in (expected, frame)
        ]
        for column in ("at", "machine", "v"):
            left, right = (table[column].to_numpy() for table in both)
            if len(left) != len(right) or (left != right).any():
                raise SystemExit(f"{peer} has other answers to {name}: {len(right)} rows, {len(left)} of Heddle")


def main() -> None:
    """Measure, compare the answers, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--windows", type=int, default=100)
    options = parser.parse_args()
    events, questions = make_events(options.events), make_questions(options.windows)
    in_polars = pl.from_pandas(events)
    by_heddle(events.head(1000), questions)  # kernels are compiled once per machine
    seconds, ours = min((measure(lambda: by_heddle(events, questions)) for _ in range(3)), key=lambda trial: trial[0])
    rows = sum(map(len, ours.values()))
    print(f"{options.events:,} events, {options.windows} windows, {rows:,} answers; CPU seconds")
    print(f"heddle.run on pandas  {seconds:8.2f}")
    peers: dict[str, Callable[[], Answers]] = {
        "pandas, alone": lambda: by_pandas(events, questions),
        "polars, alone": lambda: by_polars(in_polars, questions),
        "duckdb, alone": lambda: by_duckdb(events, questions),
        "pandas, by hand": lambda: by_pandas(events, questions, STEP),
        "polars, by hand": lambda: by_polars(in_polars, questions, STEP),
        "duckdb, by hand": lambda: by_duckdb(events, questions, STEP),
        "heddle.run on polars": lambda: heddle.run(in_polars, {question.name: question.sql for question in questions}),
    }
    for name, answer in peers.items():
        spent, theirs = measure(answer)
        check_equal(ours, theirs, name)
        print(f"{name:21} {spent:8.2f}  {spent / seconds:6.1f} times", flush=True)


if __name__ == "__main__":
    main()
