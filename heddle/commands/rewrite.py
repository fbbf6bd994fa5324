"""`heddle rewrite`: a plan as plain Spark SQL, for a Spark without the engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from jobs.host.command_line import Folder
from optimizer.planning.choices import ASSUMED_RATE

if TYPE_CHECKING:
    from optimizer.rewrite import Script, StreamingScript

LISTED = 10  # statements that are named


def rewrite(
    folder: Folder,
    stream: Annotated[str, typer.Option(help="The stream whose queries are rewritten.")],
    strategy: Annotated[str, typer.Option(help="How to share: factor_windows, cascade, ...")] = "factor_windows",
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
        _write(script.text, out)
    else:
        typer.echo(script.text, nl=False)
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if isinstance(script, StreamingScript) and script.left_out:
        console.print(f"left out, since no Structured Streaming query answers them: {_name(script.left_out)}")
    _say_as_written(console, script, bool(types))
    _next(console, folder, stream, out, streaming)


def _write(text: str, out: Path) -> None:
    from optimizer.errors import HeddleError

    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HeddleError(f"{out}: cannot be written ({error.strerror}); choose another place") from error


def _say_as_written(console: Console, script: Script | StreamingScript, typed: bool) -> None:
    as_written = script.as_written
    if as_written:
        console.print(
            f"{len(as_written)} of {len(script.answers)} statements as they were written: {_name(as_written)}"
        )
    if as_written and not typed:
        console.print("sums and averages are shared once the types of the events' columns can be read")


def _name(statements: Sequence[str]) -> str:
    return ", ".join(statements[:LISTED]) + (", ..." if len(statements) > LISTED else "")


def _next(console: Console, folder: Path, stream: str, out: Path | None, streaming: bool) -> None:
    """Say what to do with the script; beside it, not in it."""
    file = out or ("FILE.py" if streaming else "FILE.sql")
    run = f"spark-submit {file} FOLDER" if streaming else f"spark-sql -f {file}"
    if out:
        console.print(f"written: {out}\nNext: {run}", style="dim")
    else:
        command = f"heddle rewrite {folder} --stream {stream}{' --streaming' if streaming else ''} --out {file}"
        console.print(f"Next: {command}, then {run}", style="dim")
