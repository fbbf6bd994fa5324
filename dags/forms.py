"""The fields of the forms with their descriptions and checks.

A DAG file has to parse fast, so the names of strategies and techniques, and those that a form begins with, are
repeated in these files; a test compares them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from airflow.sdk import Param

STRATEGIES = [
    "cascade", "weave_share", "tri_weave", "factor_windows", "local_search", "insert_then_weave",
    "incremental_weave_share", "shared", "no_share", "random", "exhaustive",
]  # fmt: skip
TECHNIQUES = [
    "two_stacks_block", "panes", "panes_inv", "flat_fat", "b_int", "flat_fit", "two_stacks", "daba",
    "slick_deque_inv", "slick_deque_noninv",
]  # fmt: skip
ID = "^[a-z][a-z0-9_]{0,62}$"
DURATION = "^ *[0-9]+ *[a-zA-Z]+( +[0-9]+ *[a-zA-Z]+)* *$"
OFFERED = 1000  # ids in a form
HEAD = 1 << 16  # characters of a file in which streams are looked for


def stream(every: bool = False) -> Param:
    """Return the field of a stream; with `every`, none stands for all of them."""
    what = "A stream of the catalog" + (", or every stream that has queries." if every else ".")
    names = catalog_streams()
    kind = ["null", "string"] if every else "string"
    if not names:
        return Param(None, what, type=kind, pattern=ID, title="Stream")
    if not every:
        return Param(names[0], what, type=kind, enum=names, title="Stream")
    labels = {"null": "every stream"}  # the form would show null as it is
    return Param(None, what, type=kind, enum=[None, *names], values_display=labels, title="Stream")


def strategies(default: list[str]) -> Param:
    """Return the field of one or more strategies."""
    return Param(
        default,
        "How plans are searched. Of several, the cheapest plan counts; docs/strategies.md describes each.",
        type="array",
        items={"type": "string", "enum": STRATEGIES},
        minItems=1,
        uniqueItems=True,
        examples=STRATEGIES,
        title="Strategies",
    )


def techniques(default: list[str]) -> Param:
    """Return the field of one or more techniques."""
    return Param(
        default,
        "How trees answer their windows; auto takes the one with the fewest operations for every measure.",
        type="array",
        items={"type": "string", "enum": ["auto", *TECHNIQUES]},
        minItems=1,
        uniqueItems=True,
        examples=["auto", *TECHNIQUES],
        title="Techniques",
    )


def technique() -> Param:
    """Return the field of one technique, or of how to choose it."""
    what = "measured: what past runs show to be the fastest. auto: the fewest operations. Or one for all trees."
    return Param("measured", what, type="string", enum=["measured", "auto", *TECHNIQUES], title="Technique")


def number(title: str, what: str) -> Param:
    """Return the field of a positive number that is measured when it is left out."""
    return Param(
        None, f"{what}; measured from recent data when left empty.", type=["null", "number"], exclusiveMinimum=0,
        title=title,
    )  # fmt: skip


def dry_run() -> Param:
    """Return the field that lets a change be shown and not be made."""
    return Param(False, "Log what the plan and its cost would become; change nothing.", type="boolean", title="Dry run")


def tolerance() -> Param:
    """Return the field of how far a plan that queries join and leave may drift."""
    what = "How much dearer than a build the plan may become, as a share, before a replan follows at once."
    return Param(0.05, what, type="number", minimum=0, maximum=10, title="Tolerance")


def text(title: str, what: str, pattern: str = "") -> Param:
    """Return the field of a text that may be left out."""
    return Param("", what, type=["null", "string"], maxLength=2000, pattern=pattern, title=title)


def lines(title: str, what: str) -> Param:
    """Return the field of a text of several lines that may be left out."""
    return Param(None, what, type=["null", "string"], format="multiline", maxLength=20_000, title=title)


def query() -> Param:
    """Return the field of a query's id, which offers those that the catalog's YAML and SQL files have."""
    what = "The id of a query, of one aggregate or several."
    return Param(None, what, type="string", pattern=ID, examples=catalog_ids(), title="Id")


def count(title: str, what: str, default: int = 0) -> Param:
    """Return the field of a whole number from 0 on."""
    return Param(default, what, type="integer", minimum=0, maximum=1_000_000, title=title)


def catalog_streams() -> list[str]:
    """Return the streams that the YAML files of the catalog name, without reading the queries."""
    return sorted(name for name in _stream_entries() if isinstance(name, str) and re.fullmatch(ID, name))


def catalog_folders() -> dict[str, str]:
    """Return where the files of streams arrive, by stream: of those that have a path on this machine."""
    from jobs.host.settings import settings

    beside, entries = Path(settings().catalog).parent, _stream_entries()
    folders = {}
    for name in catalog_streams():
        source = entries[name].get("source") if isinstance(entries[name], dict) else None
        path = source.get("path") if isinstance(source, dict) else None
        if isinstance(path, str) and path and "://" not in path:
            folders[name] = str(beside / path if (beside / path).exists() else Path(path).resolve())
    return folders


def catalog_ids() -> list[str]:
    """Return ids of the catalog's queries, by their lines in YAML and the names of SQL files: a thousand at most."""
    from jobs.host.settings import settings

    ids: set[str] = set()
    for file in sorted(Path(settings().catalog).glob("*.y*ml")):
        head = file.read_text(encoding="utf-8", errors="replace")[:HEAD]
        ids |= set(re.findall(r"^\s*- +(?:\{ *)?id: *([a-z][a-z0-9_]{0,62})\b", head, re.MULTILINE))
    ids |= {file.stem for file in Path(settings().catalog).glob("*.sql") if re.fullmatch(ID, file.stem)}
    return sorted(ids)[:OFFERED]


def _stream_entries() -> dict[Any, Any]:
    import yaml

    from jobs.host.settings import settings

    entries: dict[Any, Any] = {}
    for file in sorted(Path(settings().catalog).glob("*.y*ml")):
        head = file.read_text(encoding="utf-8", errors="replace")[:HEAD]
        block = re.search(r"^streams:.*?(?=^[^\s#]|\Z)", head, re.MULTILINE | re.DOTALL)
        try:
            entries |= dict((yaml.safe_load(block.group()) or {})["streams"] or {}) if block else {}
        except (yaml.YAMLError, TypeError, ValueError):
            continue  # the catalog's own checks say what is wrong with it
    return entries
