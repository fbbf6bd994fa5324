"""Pages of docs/ that are generated from tables: `make docs` writes them, a test says when one is stale.

- __main__: `python -m tools.pages` writes every page.
- catalog: The generated parts of docs/catalog.md: aggregates and functions.
- kernels: docs/kernels.md, from the techniques' cards and the operators' table.
- parts: Generated parts of a page that is otherwise written by hand.
- readme: The generated parts of README.md: the output of a command, and the picture of its plan.
- strategies: docs/strategies.md, from the strategies' cards.
- workloads: The generated part of docs/workloads.md, from the workloads' cards.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.pages import catalog, kernels, readme, strategies, workloads

DOCS = Path(__file__).parents[2] / "docs"

# each function takes the page as it is and returns it as it should be
PAGES: dict[str, Callable[[str], str]] = {
    "catalog.md": catalog.refresh,
    "kernels.md": kernels.refresh,
    "strategies.md": strategies.refresh,
    "workloads.md": workloads.refresh,
    "../README.md": readme.refresh,
}
PICTURES: dict[str, Callable[[Path], None]] = {"plan.svg": readme.draw_plan}
