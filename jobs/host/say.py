"""How a long piece of work tells its user how far it is."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]
