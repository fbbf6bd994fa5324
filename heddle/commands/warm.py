"""`heddle warm`: fill numba's cache on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def warm(
    columnar: Annotated[
        bool, typer.Option("--columnar", help="Only the columnar kernel, which is the default.")
    ] = False,
) -> None:
    """Compile every kernel into numba's cache, so that no worker has to; at once when that has been done."""
    import jobs  # noqa: F401 (names the cache's folder)

    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # numba's cache files are pickles: nobody else may write them
    done = folder / ("warm-columnar" if columnar else "warm")
    if not done.exists():
        _compile(columnar)
        done.touch()
    typer.echo(f"the kernels are compiled, in {folder}")


def _compile(columnar: bool) -> None:
    from jobs.kernels import KERNELS
    from jobs.kernels.warm import warm as warm_kernels

    console = Console(stderr=True)
    with console.status("compiling the kernels, a minute or two the first time ...") as status:
        for name in warm_kernels([] if columnar else list(KERNELS)):
            status.update(f"compiling the kernels: {name} ...")
