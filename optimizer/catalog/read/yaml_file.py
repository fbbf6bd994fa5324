"""The YAML of a catalog: its shape, and a reader that keeps the line of everything.

Scalars stay texts; anchors, tags and repeated keys are refused. What the texts mean is checked afterwards.
"""

from __future__ import annotations

from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from optimizer.errors import Mistake, show

DEEPEST = 50
LARGEST = 1 << 28  # characters of one file
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
Place = tuple[str | int, ...]


class Model(BaseModel):
    """Unknown fields are mistakes, and a list is not a text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceModel(Model):
    """source: {format, path, options} or {sql}; some formats name another place than a path."""

    format: str = "parquet"
    path: str = ""
    table: str = ""
    name: str = ""
    sql: str = ""
    options: dict[str, str] = Field(default_factory=dict)


class SinkModel(Model):
    """One entry of a stream's sinks; which fields a format has is checked afterwards."""

    format: str
    path: str = ""
    url: str = ""
    catalog: str = ""
    namespace: str = ""


class StreamModel(Model):
    """One entry of streams."""

    source: SourceModel
    time: str
    lateness: str = "0 seconds"
    idle: str | None = None
    corrections: str | None = None
    zone: str = "UTC"
    expect: list[object] | None = None
    sinks: dict[str, SinkModel] = Field(default_factory=dict)


class TableModel(Model):
    """One entry of tables."""

    source: SourceModel


class LabelledModel(Model):
    """Whose a query is, what it is about, what is expected of its answers, and which of them raise an alert."""

    owner: str | None = None
    tags: str | list[str] | None = None
    expect: list[object] | None = None
    alert: str | None = None


class QueryModel(LabelledModel):
    """One entry of queries in columns."""

    id: str
    stream: str
    select: str | list[str]
    range: str
    slide: str | None = None
    offset: str | None = None
    where: str | None = None
    group_by: str | list[str] | None = None
    having: str | None = None


class SqlQueryModel(LabelledModel):
    """One entry of queries in SQL."""

    id: str
    sql: str


class FileModel(Model):
    """The top level of a file; its entries are checked one by one."""

    streams: dict[str, object] | None = None
    tables: dict[str, object] | None = None
    queries: list[object] | None = None


class YamlMistake(Mistake):
    """A mistake of the file itself, which knows its line."""

    def __init__(self, line: int, wrong: str, right: str) -> None:
        super().__init__(wrong, right)
        self.line = line


def read_yaml(text: str) -> Any:
    r"""Return the content of a YAML text: dictionaries, lists, texts and None.

    >>> read_yaml("a: 1\nb: [x, null]")
    {'a': '1', 'b': ['x', None]}
    """
    return _read_guarded(text, _Reader())


def lines_of(text: str) -> dict[Place, int]:
    """Return the line of every key and list item; this reads again, because only a catalog with mistakes needs it."""
    reader = _LineReader()
    _read_guarded(text, reader)
    return reader.lines


def _read_guarded(text: str, reader: _Reader) -> Any:
    if len(text) > LARGEST:
        raise YamlMistake(0, "the file is too large", "use the bulk form (Parquet or CSV) for machine-made queries")
    try:
        return reader.read(yaml.CSafeLoader(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "syntax error"
        raise YamlMistake(mark.line + 1 if mark else 0, f"this is not YAML ({reason})", "mend the syntax") from None


class _Reader:
    """Builds the content from parser events with a stack of its own: libyaml's tree builder recurses until it dies."""

    def __init__(self) -> None:
        self.stack: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str | None] = []  # the key each open mapping waits for the value of
        self.root: Any = None
        self.documents = 0

    def read(self, loader: Any) -> Any:
        """Build the content from all events."""
        while (event := loader.get_event()) is not None:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self.scalar(event)
            elif kind is yaml.MappingStartEvent:
                self.open(event, {})
            elif kind is yaml.SequenceStartEvent:
                self.open(event, [])
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.stack.pop()
                self.keys.pop()
            elif kind is yaml.AliasEvent:
                raise YamlMistake(_line(event), "an alias (*) is refused", "write it out")
            elif kind is yaml.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    raise YamlMistake(_line(event), "there is a second document", "keep one document a file")
        return self.root

    def scalar(self, event: Any) -> None:
        """Place a text, which may be null if it has no quotes."""
        if event.anchor or event.tag:
            _refuse(event)
        value = None if event.implicit[0] and event.value in NULLS else event.value
        if self.stack and self.keys[-1] is None and type(self.stack[-1]) is dict:
            self.key(event)
        else:
            self.place(event, value)

    def key(self, event: Any) -> None:
        """Open the next key of a mapping."""
        if event.value in self.stack[-1]:
            raise YamlMistake(_line(event), f"the key {show(event.value)} is there twice", "keep one of them")
        self.keys[-1] = event.value

    def open(self, event: Any, container: dict[str, Any] | list[Any]) -> None:
        """Open a mapping or list."""
        if event.anchor or event.tag:
            _refuse(event)
        if len(self.stack) >= DEEPEST:
            raise YamlMistake(_line(event), "it is nested too deeply", "write it flatter")
        if self.stack and self.keys[-1] is None and type(self.stack[-1]) is dict:
            raise YamlMistake(_line(event), "a key is not a text", "use plain keys")
        self.place(event, container)
        self.stack.append(container)
        self.keys.append(None)

    def place(self, event: Any, value: Any) -> None:
        """Put a value where it belongs."""
        if not self.stack:
            self.root = value
            return
        container = self.stack[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self.keys[-1] or ""] = value
            self.keys[-1] = None


class _LineReader(_Reader):
    """A reader that also records the line of every place."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Place, int] = {(): 1}
        self.places: list[Place] = []
        self.key_line = 1

    def key(self, event: Any) -> None:
        super().key(event)
        self.key_line = _line(event)

    def open(self, event: Any, container: dict[str, Any] | list[Any]) -> None:
        del self.places[len(self.stack) :]
        place = self.here()
        super().open(event, container)
        self.places.append(place)

    def place(self, event: Any, value: Any) -> None:
        if self.stack:
            in_list = isinstance(self.stack[-1], list)
            self.lines[self.here()] = _line(event) if in_list else self.key_line
        super().place(event, value)

    def here(self) -> Place:
        """Return the place that the next value goes to."""
        if not self.stack:
            return ()
        container = self.stack[-1]
        step = len(container) if isinstance(container, list) else self.keys[-1] or ""
        return (*self.places[len(self.stack) - 1], step)


def _refuse(event: Any) -> None:
    if event.anchor:
        raise YamlMistake(_line(event), "an anchor (&) is refused", "write it out")
    raise YamlMistake(_line(event), f"the tag {show(event.tag)} is refused", "remove it")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
