"""Which of the files below a source's path are its data, and what their folders say: as Spark's own reader has it.

Every listing of files, on a local disk or another store, asks here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from optimizer.catalog.model.query import Stream
from optimizer.errors import HeddleError, Mistake, show

LISTING_OPTIONS = frozenset({"recursiveFileLookup", "pathGlobFilter", "modifiedAfter", "modifiedBefore"})
NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
EPOCH = datetime(1970, 1, 1, tzinfo=ZoneInfo("UTC"))


class Found(NamedTuple):
    """A file below a source's path: its name from there on, and when it was written, in microseconds."""

    name: str
    modified: int


class Folders(NamedTuple):
    """What the folders of a file say: columns, in order, with their values as written, and the folder above them."""

    values: dict[str, str]
    above: str


def select_files(source: Stream, files: Iterable[Found]) -> list[str]:
    """Return the names of the files that are data of the source; refuse folders that Spark would not read as one.

    >>> select_files(Stream("s", "ts", 0), [Found(name, 0) for name in ("a.csv", ".b.csv", "below/c.csv")])
    ['a.csv']
    >>> select_files(Stream("s", "ts", 0), [Found(name, 0) for name in ("k=1/a.csv", "k=2/_b.csv", "k=2/c.csv")])
    ['k=1/a.csv', 'k=2/c.csv']
    """
    has_options = not LISTING_OPTIONS.isdisjoint(source.options)
    names = [file.name for file in files if _is_data(source, file, has_options)]
    if reads_below(source):
        return names
    members: dict[str, str] = {}  # the first file of every folder: there may be many files and few folders
    for name in names:
        members.setdefault(name.rpartition("/")[0], name)
    folders = {name: read_folders(name) for name in members.values()}
    by_column = [name for name in folders if folders[name].values]
    if not by_column:
        return [name for name in names if "/" not in name]
    first = by_column[0]
    for name in folders:
        if not _are_alike(folders[first], folders[name]):
            raise HeddleError(
                f"stream {source.name}: the folders of {first} and of {name} do not name the same columns below the "
                "same folder; move one of them"
            )
    return names


def reads_below(source: Stream) -> bool:
    """Whether folders name no columns: the files of a table are those that its log names, and so are all below a path
    by an option."""
    return source.has_log or source.in_spark or source.options.get("recursiveFileLookup", "false").lower() == "true"


def folder_root(source: Stream) -> str:
    """Return the path below which folders name columns; "" where they do not."""
    return "" if reads_below(source) else source.path


def read_folders(name: str) -> Folders:
    """Return the columns and values that the folders of a file name; from the last on, as Spark does.

    >>> read_folders("in/day=2024-01-31/hour=7/a.parquet")
    Folders(values={'day': '2024-01-31', 'hour': '7'}, above='in')
    """
    folders = name.split("/")[:-1]
    values: list[tuple[str, str]] = []
    for number in range(len(folders) - 1, -1, -1):
        column, equals, value = folders[number].partition("=")
        if equals:
            if not column or not value:
                raise HeddleError(f"{name}: the folder {folders[number]} is no column and value; rename it")
            values.append((unescape(column), value))
        elif values:
            return Folders(dict(reversed(values)), "/".join(folders[: number + 1]))
    return Folders(dict(reversed(values)), "" if values else "/".join(folders))


def unescape(text: str) -> str:
    """Return a name or value of a folder, whose odd characters Spark and Hive write in hexadecimal.

    >>> unescape("a%3Db%zz")
    'a=b%zz'
    """
    return re.sub("%([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), text)


def _are_alike(first: Folders, other: Folders) -> bool:
    return list(first.values) == list(other.values) and first.above.lower() == other.above.lower()


def _is_data(source: Stream, file: Found, has_options: bool) -> bool:
    folder, _, name = file.name.rpartition("/")
    if _is_hidden(name) or (folder and _is_below_hidden(folder)):
        return False
    if not has_options:
        return True
    pattern = source.options.get("pathGlobFilter")
    if pattern is not None and not glob_pattern(pattern).fullmatch(name):
        return False
    after, before = (source.options.get(name) for name in ("modifiedAfter", "modifiedBefore"))
    return (after is None or file.modified > instant(after, source.zone)) and (
        before is None or file.modified < instant(before, source.zone)
    )


@lru_cache(maxsize=1024)
def _is_below_hidden(folder: str) -> bool:
    return any(map(_is_hidden, folder.split("/")))


def _is_hidden(part: str) -> bool:
    return part.startswith(".") or (part.startswith("_") and "=" not in part) or part.endswith("._COPYING_")


@cache
def instant(text: str, zone: str) -> int:
    """Return a moment as a person writes it, in a zone unless it says its own, in microseconds since the epoch."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Mistake(f"{show(text)} is no time", "write it like 2026-01-31T12:00:00") from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))
    return (aware - EPOCH) // timedelta(microseconds=1)


@cache
def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return Hadoop's pattern of file names: * ? [a-z] [^a] {a,b}.

    >>> [bool(glob_pattern("p[0-9]{a,?b}.*").fullmatch(name)) for name in ("p1a.csv", "p2xb.csv", "p2x.csv")]
    [True, True, False]
    """
    out, depth, position = [], 0, 0
    while position < len(glob):
        char = glob[position]
        position += 1
        if char == "[":
            end = glob.find("]", position + 1)
            if end < 0:
                raise _no_pattern(glob)
            inside = glob[position:end]
            position = end + 1
            negated = inside[0] in "!^"
            characters = re.sub(r"([^\w-])", r"\\\1", inside[negated:])
            out.append(f"[^{characters}]" if negated else f"[{characters}]")
            continue
        depth += (char == "{") - (char == "}" and depth > 0)
        out.append(_PIECES.get(char, re.escape(char)) if char != "," or depth else ",")
    if depth or "\\" in glob or "/" in glob:
        raise _no_pattern(glob)
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        raise _no_pattern(glob) from None


_PIECES = {"*": ".*", "?": ".", "{": "(?:", ",": "|", "}": ")"}


def _no_pattern(glob: str) -> Mistake:
    return Mistake(f"{show(glob)} is no pattern of file names", "use * ? [a-z] [^a] {a,b}")
