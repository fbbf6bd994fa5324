"""`heddle`: the commands, and what a user sees when one fails."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from heddle.commands import COMMANDS, PANELS
from jobs.host.command_line import run_app


class Ordered(TyperGroup):
    """The commands in the order of COMMANDS; typer itself lists those with commands of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order --help lists them."""
        return list(COMMANDS)


app = typer.Typer(
    cls=Ordered,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"heddle {version('heddle')}")
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Weaves a catalog of sliding-window aggregates into a few shared execution trees and runs them on Spark."""


PANEL_OF = {name: panel for panel, commands in PANELS.items() for name in commands}
for name, command in COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, rich_help_panel=PANEL_OF[name])
    else:
        app.command(name, rich_help_panel=PANEL_OF[name])(command)


def main() -> None:
    """Run a command; a user's mistake becomes its lines on stderr and exit code 2."""
    run_app(app)
