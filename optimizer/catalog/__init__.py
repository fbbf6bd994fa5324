"""What the user wrote (YAML, Spark SQL, bulk files), understood: typed streams and queries, or one clear error."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optimizer.catalog.catalog import Catalog
    from optimizer.catalog.edit import add_query, remove_query
    from optimizer.catalog.load import load_catalog
    from optimizer.catalog.write import print_catalog

__all__ = ["Catalog", "add_query", "load_catalog", "print_catalog", "remove_query"]

_HOMES = {"Catalog": "catalog", "add_query": "edit", "remove_query": "edit", "load_catalog": "load"}


def __getattr__(name: str) -> Any:
    """Parsers are imported when they are used: a Spark worker that reads AGGREGATES needs none of them."""
    if name not in __all__:
        raise AttributeError(name)
    return getattr(import_module(f"optimizer.catalog.{_HOMES.get(name, 'write')}"), name)
