"""Queries that may share trees: one grouping, one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.strategies.contract.problem import Rows
from optimizer.windows.columns import Ids


@dataclass(frozen=True, eq=False)
class Group:
    """Queries that are planned together: as rows, with their ids and their group-by columns."""

    rows: Rows
    ids: Sequence[str] | Ids
    group_by: tuple[str, ...]
