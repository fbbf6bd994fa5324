"""`heddle warm`: fill numba's cache on disk."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def warm() -> None:
    """Compile every kernel into numba's cache, so that no worker has to."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder:
        _make_private(Path(folder))
    from jobs.kernels.warm import warm as warm_kernels

    for name in warm_kernels():
        typer.echo(f"compiling {name} ...")
    typer.echo(f"the kernels are in {folder or 'the __pycache__ folders beside their code'}")


def _make_private(folder: Path) -> None:
    """numba's cache files are pickles: nobody else may write them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
