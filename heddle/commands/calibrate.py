"""`heddle calibrate`: measure what things cost on this machine."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console


def calibrate(
    again: Annotated[bool, typer.Option("--again", help="Measure anew where prices are known already.")] = False,
) -> None:
    """Measure this machine's prices, so that plans are made and estimated in CPU seconds. About half a minute, once.

    Prices are kept for this processor, memory and these versions; let nothing else run meanwhile.
    """
    from jobs.measure.machine_prices import load_prices, prices_file, save_prices
    from jobs.runs.calibrate import calibrate as measure_prices

    prices = None if again else load_prices()
    if prices is None:
        console = Console(stderr=True)
        with console.status("calibrating") as status:
            prices = measure_prices(status.update)
        save_prices(prices)
    typer.echo(f"this machine's prices explain its trials to {prices.error:.1%} on average, in {prices_file()}")
    typer.echo("Next: heddle plan CATALOG")
