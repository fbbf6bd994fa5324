"""`heddle demo`: the whole of Heddle on embedded defaults; what `make run` calls."""

from __future__ import annotations

from rich.console import Console


def demo() -> None:
    """Run every step on generated events and say where to look next."""
    Console().print("Heddle is installed. Next: .venv/bin/heddle --help")
