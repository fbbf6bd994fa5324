"""`heddle demo`: the whole of Heddle on embedded defaults; what `make run` calls."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "catalog"
EVENTS = {
    "sensors": ["--events", "400000", "--rate", "100", "--file-events", "100000", "--out-of-order", "0.02"],
    "trades": ["--events", "200000", "--rate", "50", "--file-events", "50000", "--nulls", "0.001"],
}
SHOWN = {"sensors": "energy_1_peak_1m", "trades": "candles_1m"}


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes; it is emptied first.")] = Path("run"),
) -> None:
    """Run every step on generated events, as the commands a user would type, and say where to look next."""
    shutil.rmtree(folder, ignore_errors=True)
    catalog, warehouse = folder / "catalog", folder / "warehouse"
    shutil.copytree(EXAMPLES, catalog)
    for stream, options in EVENTS.items():
        heddle("generate", stream, *options, "--out", str(folder / "data" / stream))
    heddle("catalog", "check", str(catalog))
    for stream in EVENTS:
        plan, picture = folder / f"{stream}.plan.json", folder / f"{stream}.plan.svg"
        heddle("plan", str(catalog), "--stream", stream, "--technique", "two_stacks_block", "--out", str(plan),
               "--picture", str(picture))  # fmt: skip
        heddle("evaluate", str(catalog), "--stream", stream, "--warehouse", str(warehouse), "--plan", str(plan),
               "--files-per-batch", "1")  # fmt: skip
        heddle("results", str(catalog), SHOWN[stream], "--warehouse", str(warehouse), "--limit", "5")
    Console(highlight=False).print(
        f"\nDone. Everything is in {folder}: the catalog, the events, a plan and its picture per stream, the results.\n"
        f"Next: .venv/bin/heddle catalog show {catalog}; change a query there and run its commands again."
    )


def heddle(*arguments: str) -> None:
    """Show a command, run it, and stop when it fails."""
    Console(highlight=False, soft_wrap=True).print(f"\n$ heddle {' '.join(arguments)}", style="bold", markup=False)
    status = subprocess.run([sys.executable, "-m", "heddle", *arguments], check=False).returncode
    if status:
        raise typer.Exit(status)
