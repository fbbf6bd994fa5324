"""`heddle plan`, `heddle rewrite`: weave queries into trees; say why the plan is good, or print it as Spark SQL."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from jobs.compare import STRATEGY_HELP, TECHNIQUE_HELP
from jobs.host.command_line import Cost, Folder, Keys, Rate, save_text
from optimizer.planning.choices import ASSUMED_RATE, STRATEGY, TECHNIQUE
from optimizer.windows.counters import COUNTERS

if TYPE_CHECKING:
    from optimizer.catalog.model.catalog import Catalog
    from optimizer.plan.definition import Plan
    from optimizer.rewrite import Script, StreamingScript
    from optimizer.strategies.contract.problem import SearchOptions, Watch

LISTED = 40  # trees that are shown


def plan(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="Only this stream.")] = "",
    strategy: Annotated[str, typer.Option(help=STRATEGY_HELP)] = STRATEGY,
    technique: Annotated[str, typer.Option(help=TECHNIQUE_HELP)] = TECHNIQUE,
    rate: Rate = None,
    keys: Keys = None,
    cost: Cost = "seconds",
    edges: Annotated[str, typer.Option(help=f"How edges are counted: auto, {', '.join(COUNTERS)}.")] = "auto",
    slicing: Annotated[str, typer.Option(help="How streams are cut into slices: pairs, panes or cutty.")] = "pairs",
    factor_windows: Annotated[
        str, typer.Option(metavar="on|off", help="Whether the strategy factor_windows may invent windows.")
    ] = "on",
    master: Annotated[str, typer.Option(help="The Spark that measures events only Spark can read.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the plan here, as JSON.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the plan here, .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON, and nothing else.")] = False,
) -> None:
    """Plan a stream's queries and explain the plan. Ctrl-C ends the search with the best plan so far.

    Where the stream's newest files can be read, they tell the rate, how many keys there are and what predicates pass.
    """
    from jobs.runs.lanes import expected_long_groups, expected_rows
    from optimizer.catalog.read.load import load_catalog

    options, catalog = _options(edges, slicing, factor_windows), load_catalog(folder)
    for name in _streams(catalog, stream, is_one=bool(out or picture or as_json)):
        started = time.perf_counter()
        new_plan, stopped, how_known = _make_plan(catalog, name, rate, strategy, technique, keys, master, cost, options)
        seconds = time.perf_counter() - started
        lanes = expected_rows(catalog, new_plan)
        _write(new_plan, out, picture, cost)
        if as_json:
            typer.echo(json.dumps(_as_json(new_plan, seconds, stopped) | {"lanes": lanes}, indent=1))
        else:
            _explain(new_plan, how_known, seconds, stopped)
            _show_lanes(lanes, expected_long_groups(catalog, new_plan))
            _next(folder, new_plan, out, picture)


def _explain(new_plan: Plan, how_known: str, seconds: float, stopped: bool) -> None:
    ending = ", stopped before the end" if stopped else ""
    known = f"{new_plan.rate:.4g} events per second, {how_known}"
    show_plan(new_plan, {"rate": known, "planned in": f"{seconds:.2f} s{ending}"})


def _options(edges: str, slicing: str, factor_windows: str) -> SearchOptions:
    from optimizer.errors import HeddleError
    from optimizer.strategies.contract.problem import SearchOptions

    if factor_windows not in ("on", "off"):
        raise HeddleError(f"--factor-windows {factor_windows!r} is neither on nor off; use one of them")
    return SearchOptions(edges, slicing, factor_windows == "on")


def _streams(catalog: Catalog, stream: str, is_one: bool) -> list[str]:
    """Return the stream that was named, or every stream that has queries; refuse several where one is wanted."""
    from optimizer.errors import HeddleError

    if stream:
        catalog.of_stream(stream)
        return [stream]
    streams = [name for name in catalog.streams if len(catalog.of_stream(name))]
    if not streams:
        raise HeddleError("the catalog has no queries to plan; add one, as heddle catalog check shows them")
    if is_one and len(streams) > 1:
        raise HeddleError(f"the catalog has the streams {', '.join(streams)}; name one of them with --stream")
    return streams


def _make_plan(
    catalog: Catalog,
    stream: str,
    rate: float | None,
    strategy: str,
    technique: str,
    keys: float | None,
    master: str,
    cost: str,
    options: SearchOptions,
) -> tuple[Plan, bool, str]:
    """Make the plan; say whether the search was stopped before its end, and how its rate is known."""
    from jobs.measure.machine_prices import prices_for
    from jobs.measure.stream import measure_stream
    from jobs.spark.session import spark_session
    from optimizer.planning.stream import plan_stream
    from optimizer.strategies.contract.problem import Watch

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"{strategy} over {stream}", total=1.0)
        watch = Watch(lambda share: progress.update(bar, completed=share))
        with _stopped_by_ctrl_c(watch):
            start = (lambda: spark_session(master)) if master else None
            measured = measure_stream(catalog, stream, start, rate, keys)
            plan = plan_stream(
                catalog,
                stream,
                measured.rate,
                strategy,
                technique,
                measured.planned_keys,
                watch,
                measured.recent,
                prices_for(cost),
                options,
            )
    return plan, watch.stopped, measured.how_known


@contextmanager
def _stopped_by_ctrl_c(watch: Watch) -> Iterator[None]:
    """Let the first Ctrl-C end the search, the second the program."""

    def stop(number: int, frame: Any) -> None:
        watch.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write(plan: Plan, out: Path | None, picture: Path | None, cost: str) -> None:
    from jobs.measure.machine_prices import prices_for
    from optimizer.errors import HeddleError
    from optimizer.plan.picture import draw

    try:
        if picture:
            draw(plan, picture, prices_for(cost))
    except OSError as error:
        raise HeddleError(f"{error.filename}: cannot be written ({error.strerror}); choose another place") from error
    if out:
        save_text(out, plan.to_json() + "\n")


def _as_json(plan: Plan, seconds: float, stopped: bool) -> dict[str, Any]:
    summary = {
        "cost": plan.cost,
        "milliseconds_per_thousand_events": plan.milliseconds_per_thousand,
        "baselines": plan.baselines,
        "saving": plan.saving,
        "fingerprint": plan.fingerprint(),
        "planning_seconds": seconds,
        "stopped": stopped,
    }
    plan_as_is: dict[str, Any] = json.loads(plan.to_json())
    return plan_as_is | summary


def show_plan(plan: Plan, facts: Mapping[str, str]) -> None:
    """Print why a plan is good, what else is known of it, and a table of its trees."""
    from optimizer.plan.explain import feed_text, shards_text, summary

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has no width of its own
    console.print("\n".join(summary(plan)))
    for name, fact in facts.items():
        console.print(f"  {name:13} {fact}")
    techniques = {tree.technique for tree in plan.trees if tree.technique}
    if len(techniques) == 1:  # of all trees: a column less, so that the table fits 80 characters
        console.print(f"  technique     {techniques.pop()}")
        console.print(_table(plan, one_technique=True))
    else:
        console.print(_table(plan, one_technique=False))
    for tree in plan.trees[:LISTED]:
        if tree.shards:
            console.print(f"  {tree.id}: {shards_text(tree.shards)}", soft_wrap=True)
        if (text := feed_text(plan, tree)).startswith("rolled up"):
            console.print(f"  {tree.id}: {text}", soft_wrap=True)
    if len(plan.trees) > LISTED:
        console.print(f"and {len(plan.trees) - LISTED} trees more; --out FILE or --json has them all", style="dim")


def _show_lanes(lanes: Mapping[str, Mapping[str, str]], long_groups: list[str]) -> None:
    """Say how many queries take the file lane by the files that are there, and why the others do not."""
    from jobs.runs.lanes import lane_lines

    console = Console(highlight=False, markup=False, soft_wrap=True)
    for line in long_groups:
        console.print(f"  {line}")
    if lanes:
        console.print(f"  file lane     {sum(row['lane'] == 'file' for row in lanes.values())} of {len(lanes)} queries")
        for line in lane_lines(lanes):
            console.print(f"  {line}")


def _table(plan: Plan, one_technique: bool) -> Table:
    from optimizer.plan.explain import edges_text

    named = () if one_technique else ("technique",)
    unit = "edges/row" if all(tree.windows.rows for tree in plan.trees) else "edges/s"
    table = Table("tree", "queries", "by", "edges", unit, *named, "fed by", "cost", box=SIMPLE_HEAD)
    for tree in plan.trees[:LISTED]:
        rate = f"{float(tree.edge_rate) * (1 if tree.windows.rows else plan.traffic.ticks):.4g}"
        rate += " a row" if tree.windows.rows and unit == "edges/s" else ""
        keys, edges = ", ".join(tree.group_by), edges_text(plan, tree, most=3)
        technique = () if one_technique else (tree.technique or "-",)
        table.add_row(tree.id, str(len(tree.queries)), keys, edges, rate, *technique, tree.feed, f"{tree.cost:.5g}")
    return table


def _next(folder: Path, plan: Plan, out: Path | None, picture: Path | None) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    for path in (out, picture):
        if path:
            console.print(f"written: {path}", style="dim")
    named = f" --plan {out}" if out else ""
    more = "" if out else f"; heddle plan {folder} --stream {plan.stream} --out plan.json keeps the plan"
    console.print(f"Next: heddle evaluate {folder} --stream {plan.stream} --warehouse DIR{named}{more}", style="dim")


NAMED = 10  # statements that are named


def rewrite(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream whose queries are rewritten.")],
    strategy: Annotated[str, typer.Option(help=STRATEGY_HELP)] = "factor_windows",
    rate: Annotated[float, typer.Option(help="Events per second.")] = ASSUMED_RATE,
    keys: Annotated[float, typer.Option(help="Keys active in a slice, on average.")] = 1.0,
    streaming: Annotated[
        bool, typer.Option("--streaming", help="As a program of chained Structured Streaming queries.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the SQL, or the program, here.")] = None,
) -> None:
    """Print a plan as plain Spark SQL: shared sub-aggregates as temporary views, then one statement per query."""
    from optimizer.catalog.read.load import load_catalog
    from optimizer.errors import HeddleError
    from optimizer.planning.choices import AUTO
    from optimizer.planning.stream import plan_stream
    from optimizer.rewrite import StreamingScript, answer_types, rewrite_streaming
    from optimizer.rewrite import rewrite as rewritten

    catalog = load_catalog(folder)
    if not len(catalog.of_stream(stream)):
        raise HeddleError(f"{stream}: no query reads this stream; add one, or name another stream")
    types = answer_types(catalog, stream)
    plan = plan_stream(catalog, stream, rate, strategy, AUTO, keys)
    script = rewrite_streaming(catalog, plan, types) if streaming else rewritten(catalog, plan, types)
    if out:
        save_text(out, script.text)
    else:
        typer.echo(script.text, nl=False)
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if isinstance(script, StreamingScript) and script.left_out:
        console.print(f"left out, since no Structured Streaming query answers them: {_name(script.left_out)}")
    _say_as_written(console, script, bool(types))
    _say_next(console, folder, stream, out, streaming)


def _say_as_written(console: Console, script: Script | StreamingScript, typed: bool) -> None:
    as_written = script.as_written
    if as_written:
        console.print(
            f"{len(as_written)} of {len(script.answers)} statements as they were written: {_name(as_written)}"
        )
    if as_written and not typed:
        console.print("sums and averages are shared once the types of the events' columns can be read")


def _name(statements: Sequence[str]) -> str:
    return ", ".join(statements[:NAMED]) + (", ..." if len(statements) > NAMED else "")


def _say_next(console: Console, folder: Path, stream: str, out: Path | None, streaming: bool) -> None:
    """Say what to do with the script; beside it, not in it."""
    file = out or ("FILE.py" if streaming else "FILE.sql")
    run = f"spark-submit {file} FOLDER" if streaming else f"spark-sql -f {file}"
    if out:
        console.print(f"written: {out}\nNext: {run}", style="dim")
    else:
        command = f"heddle rewrite {folder} --stream {stream}{' --streaming' if streaming else ''} --out {file}"
        console.print(f"Next: {command}, then {run}", style="dim")
