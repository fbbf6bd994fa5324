"""`heddle generate`: synthetic events and the papers' workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.host.command_line import takes

if TYPE_CHECKING:
    from jobs.generate.draws import Options

generate = typer.Typer(no_args_is_help=True, help="Write synthetic events, or a catalog of a paper's workload.")

Out = Annotated[Path, typer.Option(help="The folder the Parquet files arrive in.")]


def make_options(
    events: Annotated[int, typer.Option(help="How many events.")],
    seed: Annotated[int, typer.Option(help="Equal seeds give equal events, whatever the file size.")] = 0,
    rate: Annotated[float, typer.Option(help="Events a second, all keys together.")] = 1000.0,
    keys: Annotated[int, typer.Option(help="How many keys, 1 to 65536.")] = 10,
    key_skew: Annotated[float, typer.Option(help="Zipf's exponent over the keys; 0 takes them in turn.")] = 0.0,
    gaps: Annotated[float, typer.Option(help="Share of the time in which nothing happens.")] = 0.0,
    out_of_order: Annotated[
        float, typer.Option(help="Share of events that arrive up to 2 seconds after their turn.")
    ] = 0.0,
    late: Annotated[float, typer.Option(help="Share of events that arrive 1 to 2 minutes after their turn.")] = 0.0,
    nulls: Annotated[float, typer.Option(help="Share of nulls in every column but the time.")] = 0.0,
    nan: Annotated[float, typer.Option(help="Share of NaN in every double column.")] = 0.0,
    infinities: Annotated[float, typer.Option(help="Share of infinities in every double column.")] = 0.0,
    file_events: Annotated[int, typer.Option(help="Events in a file.")] = 1_000_000,
) -> Options:
    """Return the options of generated events that a command line gives."""
    from jobs.generate.draws import Options

    return Options(events, seed, rate, keys, key_skew, gaps, out_of_order, late, nulls, nan, infinities, file_events)


@generate.command()
@takes(make_options)
def sensors(options: Options, out: Out) -> None:
    """Machines read 100 times a second each: three energies, temperature, state flags, work cycle."""
    write("sensors", options, out)


@generate.command()
@takes(make_options, keys=100, key_skew=1.0)
def trades(options: Options, out: Out) -> None:
    """Prices that walk at random, a few volumes that make up most; with the tables close and index."""
    write("trades", options, out)


@generate.command()
def debs2012(
    file: Annotated[Path, typer.Argument(help="The challenge's tab-separated file; it may be compressed.")],
    out: Out,
    file_events: Annotated[int, typer.Option(help="Events in a file.", min=1)] = 1_000_000,
) -> None:
    """The manufacturing events of the DEBS 2012 challenge, which the papers measure on, from your copy of the file."""
    from jobs.generate.sensors import replay_debs2012

    block_rows: list[int] = []
    parts = replay_debs2012(file, out, file_events, block_rows.append)
    tell("debs2012", sum(block_rows), len(parts), out)


@generate.command()
def workload(
    name: Annotated[str, typer.Argument(help="A workload of docs/workloads.md, such as factors or trades_a.")],
    queries: Annotated[int, typer.Option(help="Q_num: how many queries.")],
    out: Annotated[Path, typer.Option(help="The catalog's folder.")],
    seed: Annotated[int, typer.Option(help="Equal seeds give equal workloads.")] = 0,
    s_max: Annotated[int | None, typer.Option(help="The longest slide, in ticks.")] = None,
    o_max: Annotated[int | None, typer.Option(help="The largest overlap factor, range over slide.")] = None,
    rate: Annotated[float | None, typer.Option(help="Lambda: events a second.")] = None,
    z_skew: Annotated[float | None, typer.Option(help="Zipf's exponent over the slides; 0 is uniform.")] = None,
    residues: Annotated[bool | None, typer.Option("--residues", help="Ranges that no slide divides.")] = None,
    hopping: Annotated[bool | None, typer.Option("--hopping", help="Hopping instead of tumbling windows.")] = None,
    multiples: Annotated[int | None, typer.Option(help="The largest multiple of a seed window.")] = None,
    tick: Annotated[str, typer.Option(help="How long a tick is.")] = "1 second",
    data: Annotated[str, typer.Option(help="Where the events are, if not in data/sensors or data/trades.")] = "",
) -> None:
    """Write the catalog of a paper's workload: YAML, or a bulk Parquet file for more than 1,000 queries."""
    from optimizer.workloads import workload as draw
    from optimizer.workloads.workload import parse_tick, write_catalog

    options = {
        "s_max": s_max, "o_max": o_max, "rate": rate, "z_skew": z_skew,
        "residues": residues, "hopping": hopping, "multiples": multiples,
    }  # fmt: skip
    catalog = draw(
        name, queries, seed=seed, **{option: value for option, value in options.items() if value is not None}
    )
    file = write_catalog(catalog, out, data, parse_tick(tick))
    say(f"{queries:,} queries in {file}. Next: heddle plan {out} --stream {catalog.stream} --rate {catalog.rate:g}")


def write(stream: str, options: Options, out: Path) -> None:
    """Generate with a bar that shows how far it is, then say what to do with the files."""
    from rich.console import Console
    from rich.progress import Progress

    from jobs.generate import generate as generate_events

    console = Console(stderr=True, soft_wrap=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(stream, total=options.events)
        parts = generate_events(stream, options, out, lambda rows: bar.advance(task, rows))
    tell(stream, options.events, len(parts), out)


def tell(stream: str, events: int, parts: int, out: Path) -> None:
    """Say where the events are, and what to do with them."""
    files = "1 file" if parts == 1 else f"{parts} files"
    say(
        f"{events:,} {stream} events in {files} in {out}. "
        "Next: name it as a stream's path in a catalog (format parquet, time ts), then heddle plan CATALOG"
    )


def say(line: str) -> None:
    """One plain line for the user."""
    from rich.console import Console

    Console(soft_wrap=True).print(line, highlight=False, markup=False)
