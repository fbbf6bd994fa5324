"""`heddle warm`, `heddle calibrate`, `heddle connectors`: what a machine does once, before its first run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from jobs.host.command_line import say_next
from jobs.host.connectors import CONNECTORS, install_connector, installed_jars

connectors = typer.Typer(no_args_is_help=True, help="Spark's own jars for other stores.")


def warm(
    columnar: Annotated[
        bool, typer.Option("--columnar", help="Only the columnar kernel, which is the default.")
    ] = False,
) -> None:
    """Compile every kernel into numba's cache, and keep Spark's classes for Java; at once when that has been done."""
    from jobs.host.cache import warm_mark

    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # numba's cache files are pickles: nobody else may write them
    mark = warm_mark(columnar)
    with _archive_classes() if not columnar and find_spec("pyspark") else nullcontext():
        if not mark.exists():
            _compile(columnar)
            mark.touch()
    typer.echo(f"the kernels are compiled, in {folder}")
    say_next("heddle calibrate measures this machine's prices")


@contextmanager
def _archive_classes() -> Iterator[None]:
    """Let another process archive Spark's classes meanwhile; without that file Java starts as well, only later."""
    command = [sys.executable, "-m", "jobs.spark.class_archive"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        yield


def _compile(columnar: bool) -> None:
    """Compile the kernels by a process for every part: one of them here, the others beside it."""
    from jobs.kernels import KERNELS
    from jobs.kernels.warm import PARTS
    from jobs.kernels.warm import warm as warm_kernels

    beside = PARTS[1:] if columnar else PARTS
    own = [part for part in PARTS if part not in beside]
    with ExitStack() as stack:
        status = stack.enter_context(Console(stderr=True).status("compiling the kernels, a minute or two ..."))
        others = {part: stack.enter_context(_compile_beside(part)) for part in beside}
        for name in warm_kernels([] if columnar else list(KERNELS), own):
            status.update(f"compiling the kernels: {name} ...")
        for part, other in others.items():
            status.update(f"compiling the kernels: {part} ...")
            if other.wait():  # it could not; here it says why
                list(warm_kernels([], [part]))


def _compile_beside(part: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "jobs.kernels.warm", part], stderr=subprocess.DEVNULL)


def calibrate(
    measure_anew: Annotated[bool, typer.Option("--again", help="Measure anew where prices are known already.")] = False,
) -> None:
    """Measure this machine's prices, so that plans are made and estimated in CPU seconds. About half a minute, once.

    Prices are kept for this processor, memory and these versions; let nothing else run meanwhile.
    """
    from jobs.measure.machine_prices import load_prices, prices_file, save_prices
    from jobs.runs.calibrate import calibrate as measure_prices

    prices = None if measure_anew else load_prices()
    if prices is None:
        console = Console(stderr=True)
        with console.status("calibrating") as status:
            prices = measure_prices(status.update)
        save_prices(prices)
    typer.echo(f"this machine's prices explain its trials to {prices.error:.1%} on average, in {prices_file()}")
    say_next("heddle plan CATALOG")


@connectors.command()
def install(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help=f"Which: {', '.join(CONNECTORS)}.")],
) -> None:
    """Fetch the jars of connectors into the cache, from Maven Central or its mirror HEDDLE_MAVEN, and check them."""
    for name in names:
        files = install_connector(name, typer.echo)
        typer.echo(f"{name}: {len(files)} {'jar is' if len(files) == 1 else 'jars are'} there")
    say_next("heddle connectors list names the files, which spark-submit takes with --jars")


@connectors.command(name="list")
def list_all() -> None:
    """List the connectors, and the jars of those that are installed."""
    for name, jars in CONNECTORS.items():
        more = f" and {len(jars) - 1} more" if len(jars) > 1 else ""
        files = ",".join(map(str, installed_jars(name)))
        typer.echo(f"{name}: {files or f'{jars[0].file}{more} (not installed)'}")
    say_next("heddle connectors install NAME")
