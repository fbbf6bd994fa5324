"""How a long piece of work tells its user how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable

Say = Callable[[str], None]


def say_to_stderr(line: str) -> None:
    """Write a line of progress where it does not mix with a report on stdout."""
    sys.stderr.write(line + "\n")


def silent(line: str) -> None:
    """Say nothing."""
