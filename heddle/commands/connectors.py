"""`heddle connectors`: Spark's own jars for other stores, fetched once, and which of them are there."""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.host.connectors import CONNECTORS, install_connector, installed_jars

connectors = typer.Typer(no_args_is_help=True, help="Spark's own jars for other stores.")


@connectors.command()
def install(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help=f"Which: {', '.join(CONNECTORS)}.")],
) -> None:
    """Fetch the jars of connectors into the cache, from Maven Central or its mirror HEDDLE_MAVEN, and check them."""
    for name in names:
        files = install_connector(name, typer.echo)
        typer.echo(f"{name}: {len(files)} jars are there; spark-submit takes them with --jars")


@connectors.command(name="list")
def list_all() -> None:
    """List the connectors, and the jars of those that are installed."""
    for name, jars in CONNECTORS.items():
        files = installed_jars(name)
        typer.echo(f"{name}: {','.join(map(str, files)) or ' '.join(jar.file for jar in jars) + ' (not installed)'}")
