"""Sinks of a stream: which fields a format has, and that no credentials are among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from optimizer.catalog.model.query import Sink
from optimizer.errors import Mistake, did_you_mean, show

if TYPE_CHECKING:
    from optimizer.catalog.read.yaml_shape import SinkModel

PLACES: dict[str, tuple[str, ...]] = {  # of each format, the fields that say where it is: one of them is there
    "parquet": ("path",),
    "delta": ("path",),
    "iceberg": ("path", "catalog"),
    "sql": ("path", "url"),
}
NAMESPACED = ("iceberg", "sql")
NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
URL = re.compile(r"(env|airflow):[A-Za-z_][A-Za-z0-9_.-]{0,199}")


def make_sinks(models: Mapping[str, SinkModel], locate: Callable[[str], str]) -> tuple[Sink, ...]:
    """Return the sinks of a stream by their YAML entries; refuse what a format does not have."""
    return tuple(_make_sink(name, model, locate) for name, model in models.items())


def _make_sink(name: str, model: SinkModel, locate: Callable[[str], str]) -> Sink:
    if not NAME.fullmatch(name):
        raise _mistake(name, "is no name", "a name is a small letter, then up to 62 small letters, digits or _")
    if model.format not in PLACES:
        right = did_you_mean(model.format, PLACES, f"formats: {', '.join(PLACES)}")
        raise _mistake(name, f"there is no format {show(model.format)}", right)
    places = PLACES[model.format]
    named = [field for field in ("path", "url", "catalog") if getattr(model, field)]
    if len(named) != 1 or named[0] not in places:
        raise _mistake(name, f"it has {' and '.join(named) or 'no place'}", f"give it one {' or '.join(places)}")
    if model.namespace and (model.format not in NAMESPACED or not NAME.fullmatch(model.namespace)):
        raise _mistake(name, f"the namespace {show(model.namespace)} is refused", "leave it out, or write a plain name")
    if model.url and not URL.fullmatch(
        model.url
    ):  # not shown: whoever writes a password here shall not find it in a log
        raise _mistake(name, "its url is refused", "write env:VARIABLE or airflow:CONNECTION, which hold the address")
    if model.catalog and not NAME.fullmatch(model.catalog):
        raise _mistake(name, f"the catalog {show(model.catalog)} is refused", "name one of pyiceberg's configuration")
    try:
        path = locate(model.path) if model.path else ""
    except Mistake as mistake:
        raise _mistake(name, mistake.wrong, mistake.right) from None
    return Sink(name, model.format, path, model.url, model.catalog, model.namespace, model.path)


def _mistake(name: str, wrong: str, right: str) -> Mistake:
    return Mistake(f"sink {show(name)}: {wrong}", right, "sinks")
