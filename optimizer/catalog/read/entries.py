"""The two forms people write: entries of a YAML file, and a SQL file for each query."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from optimizer.catalog.read.draft import Draft, Origin, at_line, check_id
from optimizer.catalog.read.expect import FIELD, parse_query_expectations
from optimizer.catalog.read.selects import SelectedAggregate, parse_selected
from optimizer.catalog.read.statements import Parsed, ParsedColumn, bind_condition, check_names, parse_statement
from optimizer.catalog.read.streams import make_stream, make_table
from optimizer.catalog.read.yaml_file import (
    FileModel,
    Place,
    QueryModel,
    SinkModel,
    SourceModel,
    SqlQueryModel,
    StreamModel,
    TableModel,
    lines_of,
    read_yaml,
)
from optimizer.catalog.sql.durations import parse_window
from optimizer.catalog.sql.expressions import column_name, expression
from optimizer.errors import Mistake, did_you_mean, in_field, show

M = TypeVar("M", bound=BaseModel)
NOTE = re.compile(r"^--[ \t]*(owner|tags|alert)[ \t]*:(.*)$", re.MULTILINE)  # what comments of a SQL file say of it
KEY_IN_TEXT = re.compile(r"(?:^|(?<=,))(?:`(?:[^`]|``)*`|[^,`]|`)*")  # up to a comma outside of backquotes
WRITE = {
    "string_type": "write a text",
    "model_type": "write a mapping",
    "dict_type": "write a mapping",
    "list_type": "write a list",
}


class YamlFile:
    """A YAML file's content; its lines are looked up only when something is wrong."""

    def __init__(self, file: Path) -> None:
        self.name = file.name
        self.text = read_text(file)
        self.content = read_yaml(self.text)

    @cached_property
    def lines(self) -> dict[Place, int]:
        """The line of every place in the file."""
        return lines_of(self.text)

    def origin(self, *place: str | int) -> Origin:
        """Return where an entry is written."""
        return Origin(self.name, lambda field: self.lines.get((*place, field)) or self.lines.get(place, 1))


def read_text(file: Path) -> str:
    """Return a file's text; refuse other encodings than UTF-8."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise Mistake("the file is not UTF-8", "save it as UTF-8") from None


def add_yaml(draft: Draft, file: Path) -> None:
    """Read one YAML file into the draft."""
    source = YamlFile(file)
    if source.content is None:
        return
    if not isinstance(source.content, dict):
        raise Mistake("the file is not a mapping", "begin with streams: or queries:")
    shape = check_content(FileModel, source.content, draft, source.origin(), "")
    if shape is None:
        return
    for name, entry in (shape.streams or {}).items():
        _add_stream(draft, name, entry, source.origin("streams", name))
    for name, entry in (shape.tables or {}).items():
        _add_table(draft, name, entry, source.origin("tables", name))
    for index, entry in enumerate(shape.queries or ()):
        add_query_entry(draft, entry, source.origin("queries", index))


def check_content(model: type[M], content: Any, draft: Draft, origin: Origin, name: str) -> M | None:
    """Return the content in its model, or None after noting its problems."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        fields = {str(entry["loc"][0]) if entry["loc"] else "": entry for entry in reversed(error.errors())}
    for field, entry in fields.items():
        draft.refuse(origin, name, _shape_mistake(model, field, entry))
    return None


def _shape_mistake(model: type[BaseModel], field: str, entry: Any) -> Mistake:
    inner_models: dict[str, type[BaseModel]] = {"source": SourceModel, "sinks": SinkModel}
    inside = len(entry["loc"]) > (2 if field == "sinks" else 1)
    fields = (inner_models.get(field, model) if inside else model).model_fields
    names = ", ".join(fields)
    if entry["type"] == "extra_forbidden":
        inner = str(entry["loc"][-1])
        right = did_you_mean(inner, fields, f"fields: {names}")
        return Mistake(f"there is no field {show(inner)}", right, field)
    if entry["type"] == "missing":
        return Mistake(f"{entry['loc'][-1]} is missing", f"fields: {names}", field)
    right = WRITE.get(entry["type"], "write a text or a list of texts")
    return Mistake(f"{show(entry['input'])} is refused", right, field)


def _add_stream(draft: Draft, name: str, entry: Any, origin: Origin) -> None:
    model = check_content(StreamModel, entry, draft, origin, name)
    try:
        _check_name(draft, name)
        draft.places[name] = origin
        if model is not None:
            draft.streams[name] = make_stream(name, model, draft.folder)
    except Mistake as mistake:
        draft.refuse(origin, name, mistake)


def _add_table(draft: Draft, name: str, entry: Any, origin: Origin) -> None:
    model = check_content(TableModel, entry, draft, origin, name)
    try:
        _check_name(draft, name)
        draft.places[name] = origin
        if model is not None:
            draft.tables[name] = make_table(name, model.source, draft.folder)
    except Mistake as mistake:
        draft.refuse(origin, name, mistake)


def _check_name(draft: Draft, name: str) -> None:
    check_id(name)
    if name in draft.places:
        raise Mistake(f"{name} is there twice", "give one of them another name", "name")


def add_query_entry(draft: Draft, entry: Any, origin: Origin) -> None:
    """Read one entry of queries into the draft."""
    if not isinstance(entry, dict):
        draft.refuse(origin, "", Mistake(f"{show(entry)} is not a query", "write {id: ..., stream: ..., select: ...}"))
        return
    name = entry.get("id") if isinstance(entry.get("id"), str) else ""
    model = check_content(SqlQueryModel if "sql" in entry else QueryModel, entry, draft, origin, name or "")
    if model is None:
        return
    try:
        check_id(name or "")
        parsed = in_field("sql", parse_statement, model.sql) if isinstance(model, SqlQueryModel) else from_fields(model)
        expect = in_field(FIELD, parse_query_expectations, model.expect)
        if expect:
            draft.expect[name or ""] = expect
        draft.pending.append((name or "", _with_alert(parsed, model.alert), origin))
        draft.label(name or "", model.owner, model.tags)
    except Mistake as mistake:
        draft.refuse(origin, name or "", mistake)


def _with_alert(parsed: Parsed, text: str | None) -> Parsed:
    """Return a statement with the condition that raises an alert, in the language of HAVING."""
    alert = in_field("alert", lambda text: bind_condition(text, parsed.selected, parsed.columns), (text or "").strip())
    return replace(parsed, alert=alert)


def from_fields(model: Any) -> Parsed:
    """Make a statement of a query that is written in fields."""
    texts = model.select if isinstance(model.select, list) else [model.select]
    keys = group_keys(model.group_by)
    selected = tuple(in_field("select", parse_selected, text) for text in texts)
    if not selected:
        raise Mistake("there is no aggregate", "select one, as in max(x)", "select")
    where = in_field("where", expression, model.where) if model.where else ""
    window = parse_window(model.range, model.slide, model.offset)
    columns = default_parsed_columns(keys, selected)
    having = in_field("having", lambda text: bind_condition(text, selected, columns), model.having or "")
    return Parsed(model.stream, "", window, where, keys, selected, columns, having)


def default_parsed_columns(keys: tuple[str, ...], selected: tuple[SelectedAggregate, ...]) -> tuple[ParsedColumn, ...]:
    """Return the columns of a statement in their default order: keys, window, aggregates."""
    leading = (*(ParsedColumn(key, key, "key") for key in keys), ParsedColumn("window", "window", "window"))
    columns = (*leading, *(ParsedColumn(aggregate.name, index, "answer") for index, aggregate in enumerate(selected)))
    check_names([column.name for column in columns])
    return columns


def group_keys(group_by: Any) -> tuple[str, ...]:
    """Return the group-by columns of a list, or of a text with commas."""
    if not group_by:
        return ()
    texts = KEY_IN_TEXT.findall(group_by) if isinstance(group_by, str) else group_by
    keys = tuple(in_field("group_by", column_name, text) for text in texts)
    if len({key.lower() for key in keys}) < len(keys):
        raise Mistake("a key is there twice", "name each key once", "group_by")
    return keys


def add_sql(draft: Draft, file: Path) -> None:
    """Read one SQL file, a query named by the file, into the draft."""
    origin = at_line(file.name, 1)
    try:
        check_id(file.stem)
        text = read_text(file)
        notes = dict(NOTE.findall(text))
        draft.pending.append((file.stem, _with_alert(parse_statement(NOTE.sub("", text)), notes.get("alert")), origin))
        draft.label(file.stem, notes.get("owner"), notes.get("tags"))
    except Mistake as mistake:
        draft.refuse(origin, file.stem, mistake)
