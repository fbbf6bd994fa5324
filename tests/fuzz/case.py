"""One random case: events in odd orders and batches, columns of any names, every kind of query, plans that change."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from sqlglot import exp

from jobs.host.stops import ADOPTION_STEPS, DRIVER_STEPS, TASK_STEPS
from jobs.results import results_table
from jobs.runs.in_process import evaluate_local
from jobs.runs.request import Options
from optimizer.algebra.techniques import CARDS
from optimizer.catalog.sql.expressions import parse, print_tree, quote
from optimizer.plan.definition import Plan
from optimizer.strategies import STRATEGIES
from optimizer.strategies.contract.problem import SearchOptions
from optimizer.windows.window import SLICINGS
from tests.fuzz.odd_files import TEXTS, OddFiles
from tests.jobs.engine.questions import Question, check, questions
from tests.jobs.engine.row_questions import RowQuestion, check_rows, in_order, questions_in_rows
from tests.jobs.engine.runs import Answers
from tests.jobs.engine.shard_plans import forced
from tests.worlds.deaths import killed_at, run_with_deaths
from tests.worlds.names import ODD_NAMES
from tests.worlds.streams import SCHEMA, SECOND, Arrival, Row, arrivals, table_of, ticks
from tests.worlds.streams import TEXTS as TEXT_VALUES
from tests.worlds.warehouse import World, make_world

SEARCHES = tuple(name for name in STRATEGIES if name != "exhaustive")  # which takes a dozen queries
USUAL_FILES = OddFiles()
THIRD = "third text"
STEPS = (*DRIVER_STEPS, *TASK_STEPS, *ADOPTION_STEPS)
RENAMED = tuple(name for name in SCHEMA.names if name != "ts")
TEXT_KEYS = (("k", "s"), ("s", "k"), ("s", "k", "t"), ("t", "i", "s"))  # t: a third text, of cases alone
THIS_CENTURY = 1_750_000_000 * SECOND  # after all events, before any run
CLOCKS: dict[str, dict[str, str]] = {"": {}, "idle": {"idle": "5 minutes"}, "corrections": {"corrections": "1 day"}}
ORDERS: dict[str, Callable[[Row], Any]] = {
    "as they come": lambda row: 0,
    "sorted by text": lambda row: (row["s"] or "", row["k"] or ""),
    "sorted by time": lambda row: row["ts"] or 0,
}


@dataclass(frozen=True)
class Planned:
    """How a plan is made."""

    strategy: str
    slicing: str
    shards: bool

    def plan(self, world: World, technique: str) -> Plan:
        """Make the plan."""
        plan = world.plan(self.strategy, technique, options=SearchOptions(slicing=self.slicing))
        return forced(plan, self.shards)


@dataclass(frozen=True)
class Case:
    """What is asked of which events, what their columns are called, and how all is planned and evaluated."""

    arrival: Arrival
    asked: tuple[Question, ...]
    names: Mapping[str, str]
    technique: str
    plans: tuple[Planned, ...]  # those after the first take over one batch later each
    files_per_batch: int  # 0: all at once
    buckets: int
    files: OddFiles = USUAL_FILES
    features_of_rows: tuple[str, ...] = ()
    clock: str = ""  # of CLOCKS: what the stream has beside its lateness
    kills: tuple[str, ...] = ()  # steps at which every run dies once

    def write(self, folder: Path) -> World:
        """Write the events and the catalog."""
        names = [self.names.get(name, name) for name in SCHEMA.names]
        entries = [self._entry(number, question) for number, question in enumerate(self.asked)]
        world = make_world(folder, [], entries, self.arrival.lateness, **CLOCKS[self.clock])
        for number, batch in enumerate(self.arrival.batches):
            table = table_of(batch).rename_columns(names)
            third_text = pa.array([row.get("t") for row in batch], pa.string())
            self.files.write(world.path(number), number, table.append_column(THIRD, third_text))
        return world

    def _entry(self, number: int, question: Question) -> dict[str, Any]:
        entry = question.entry(f"q{number}")
        entry["select"] = rename_columns(entry["select"], self.names)
        if "where" in entry:
            entry["where"] = rename_columns(entry["where"], self.names)
        if "group_by" in entry:
            names = {**self.names, "t": THIRD}
            entry["group_by"] = [quote(names.get(name, name)) for name in entry["group_by"]]
        return entry

    def evaluate(self, world: World) -> Answers:
        """Evaluate the batches as they arrive, by one plan after another; return every answer."""
        warehouse, waiting = str(world.folder / "warehouse"), list(world.files)
        for file in waiting:
            file.rename(world.folder / file.name)
        for number, planned in enumerate(self.plans):
            arriving = waiting[:1] if number < len(self.plans) - 1 else waiting
            waiting = waiting[len(arriving) :]
            for file in arriving:
                (world.folder / file.name).rename(file)
            options = Options("auto", self.files_per_batch, buckets=self.buckets)
            run = partial(evaluate_local, world.catalog, planned.plan(world, self.technique), warehouse, options)
            with self.files.limits(), killed_at(self.kills):
                run_with_deaths(self.kills, run)
        return {f"q{number}": self._answers(world, number) for number in range(len(self.asked))}

    def _answers(self, world: World, number: int) -> dict[tuple[tuple[Any, ...], int], Any]:
        table = results_table(str(world.folder / "warehouse"), world.catalog, f"q{number}")
        keys, answers = len(self.asked[number].group_by), {}
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            place = row[:keys], _number(row[keys]["start"])
            assert place not in answers, (number, place)
            answers[place] = _number(row[-1])
        return answers

    def check(self, answers: Answers) -> None:
        """Hold every row against the oracle."""
        named = {f"q{number}": question for number, question in enumerate(self.asked)}
        in_rows = {id: question for id, question in named.items() if isinstance(question, RowQuestion)}
        in_time = {id: question for id, question in named.items() if id not in in_rows}
        until = self.until
        check(in_time, self.arrival.events, until, answers)
        check_rows(in_rows, [] if until is None else in_order(self.arrival.batches, until), answers)

    @property
    def until(self) -> int | None:
        """The watermark in the end: of an idle stream, the clock's."""
        until = self.arrival.until
        return THIS_CENTURY if self.clock == "idle" and until is not None else until

    def features(self) -> Iterator[str]:
        """Yield what the case has, as words."""
        yield f"technique {self.technique}"
        yield self.clock or "no corrections, and the clock does not count"
        yield f"lateness {self.arrival.lateness > 0}"
        yield f"{len(self.arrival.batches)} batches"
        yield "all files at once" if not self.files_per_batch else "a file a batch"
        yield "odd names" if self.names else "plain names"
        yield from (f"dies at {step}" for step in self.kills)
        yield "plan change" if len(self.plans) > 1 else "one plan"
        yield from self.files.features()
        yield from self.features_of_rows
        for planned in self.plans:
            yield from (f"strategy {planned.strategy}", f"slicing {planned.slicing}", f"shards {planned.shards}")
        for question in self.asked:
            yield f"aggregate {question.aggregate}"
            yield "windows in rows" if question.window.rows else "windows in time"
            yield f"{len(question.group_by)} keys"
            yield f"{sum(name in ('k', 's', 't') for name in question.group_by)} keys of text"
            yield "offset" if question.window.offset else "no offset"
            yield "uneven range" if question.window.range % question.window.slide else "even range"
            yield "where" if question.where else "no where"
            yield "filter" if question.only else "no filter"


def rename_columns(sql: str, names: Mapping[str, str]) -> str:
    """Return an expression with other columns.

    >>> rename_columns("sum(x + n) FILTER (WHERE x > 0)", {"x": "a b"})
    'sum(`a b` + n) FILTER (WHERE `a b` > 0)'
    """
    if not names:
        return sql
    tree = parse(sql)
    for column in list(tree.find_all(exp.Column)):
        column.set("this", exp.to_identifier(names.get(column.name, column.name), quoted=True))
    return print_tree(tree)


def _number(value: Any) -> Any:
    return ticks(value) if isinstance(value, datetime) else value


def odd_names(seed: int) -> dict[str, str]:
    """Return other names for all columns but the time."""
    drawn = random.Random(seed).sample(
        [name for name in ODD_NAMES if name.lower() not in ("ts", "window")], len(RENAMED)
    )
    return dict(zip(RENAMED, drawn, strict=True))


def drawn(number: int, seed_number: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a test try so many random cases, the same for a seed, and make a wrong one small."""
    profile = settings(
        max_examples=number,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    return lambda attempt: seed(seed_number)(profile(attempt))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any case."""
    technique = draw(st.sampled_from(["auto", "auto", "auto", *CARDS]))
    asked: Sequence[Question] = draw(st.lists(questions(technique), min_size=1, max_size=6))
    in_rows: Sequence[Question] = draw(st.lists(questions_in_rows(technique), max_size=2))
    planned = st.builds(Planned, st.sampled_from(SEARCHES), st.sampled_from(list(SLICINGS)), st.booleans())
    arrival = draw(arrivals())
    plans = draw(st.lists(planned, min_size=1, max_size=min(3, len(arrival.batches))))
    order = draw(st.sampled_from(list(ORDERS)))
    emptied = draw(st.sampled_from(["", "", "k", "s", "x", "n"]))  # null in all rows of one file
    by_texts = st.sampled_from([replace(question, group_by=keys) for question in asked for keys in TEXT_KEYS])
    small = draw(st.booleans())
    files = OddFiles(draw(st.sampled_from(TEXTS)), 5 if small else 1 << 20, draw(st.booleans()), draw(st.booleans()))
    clock = draw(st.sampled_from(["", "", "", "", "idle", "corrections"]))
    if clock == "idle":
        plans = plans[:1]  # whatever came after a first run would be late
    if clock == "corrections":  # events may come as late as they like; rows of windows in rows would be renumbered
        in_rows, arrival = [], Arrival(draw(st.permutations(arrival.batches)), arrival.lateness)
    return Case(
        odd_rows(arrival, order, emptied),
        (*asked, *draw(st.lists(by_texts, max_size=2)), *in_rows),
        draw(st.one_of(st.just({}), st.builds(odd_names, st.integers(0, 1 << 16)))),
        technique,
        tuple(plans),
        draw(st.sampled_from([1, 0])),
        draw(st.sampled_from([1, 3])),
        files,
        (f"rows {order}", f"a file without {emptied}" if emptied else "values in every file"),
        clock,
        tuple(draw(st.lists(st.sampled_from(STEPS), max_size=2, unique=True))) if draw(st.booleans()) else (),
    )


def odd_rows(arrival: Arrival, order: str, emptied: str) -> Arrival:
    """Return an arrival whose files are in an order, one of them with nothing but nulls in a column."""
    batches = [sorted(batch, key=ORDERS[order]) for batch in arrival.batches]
    batches = [[{**row, "t": TEXT_VALUES[-row["m"] % len(TEXT_VALUES)]} for row in batch] for batch in batches]
    if emptied:
        batches[-1] = [{**row, emptied: None} for row in batches[-1]]
    return Arrival(batches, arrival.lateness)
