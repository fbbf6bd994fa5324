"""A whole SELECT: keys, window, aggregates and HAVING over one stream, as the user's own Spark SQL says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from sqlglot import exp

from optimizer.catalog.model.query import ColumnKind
from optimizer.catalog.read.selects import SelectedAggregate, read_aggregate, unalias
from optimizer.catalog.sql.durations import make_window, parse_duration
from optimizer.catalog.sql.expressions import AGGREGATE_NAMES, NAME, canonical, check, parse
from optimizer.errors import Mistake, show
from optimizer.windows.window import Window

SHAPE = "write SELECT keys, window, aggregates FROM stream [WHERE ...] GROUP BY keys, window(time, range[, slide])"
_WINDOW = re.compile(
    r"\bwindow\s*\(\s*([a-z_]\w*)\s*,\s*'([^']*)'(?:\s*,\s*'([^']*)'(?:\s*,\s*'([^']*)')?)?\s*\)",
    re.IGNORECASE | re.ASCII,
)
_UNSURE = re.compile(r"[\"`\\]")  # where counting single quotes would not tell what is inside a text
VALUE = "value"  # the aggregate of a statement that has one
Columns = Sequence[
    tuple[str, str | int, ColumnKind]
]  # name; a group-by column, a part of the window, or an index of `selected`; which of these


class ParsedColumn(NamedTuple):
    """A column of a statement: its name, and which group-by column, part of the window or aggregate it shows."""

    name: str
    source: str | int  # of an aggregate its index
    kind: ColumnKind


@dataclass(frozen=True)
class Parsed:
    """A statement before its aggregates become queries: a column's source may be an index into `selected`."""

    stream: str
    time: str  # "" where nothing names the time column
    window: Window
    where: str
    group_by: tuple[str, ...]
    selected: tuple[SelectedAggregate, ...]
    columns: tuple[ParsedColumn, ...]
    having: str = ""  # a condition over the names of the columns
    alert: str = ""  # likewise


def parse_statement(text: str) -> Parsed:
    """Parse a statement's SQL. Statements that differ in their windows alone are parsed once."""
    windows = list(_WINDOW.finditer(text))
    if len(windows) != 1 or _UNSURE.search(text) or text.count("'", 0, windows[0].start()) % 2:
        return _parse_statement(text)
    time, *lengths = windows[0].groups()
    parsed = _parse_statement(f"{text[: windows[0].start()]}window({time}, '1 second'){text[windows[0].end() :]}")
    return replace(parsed, window=_window([parse_duration(length) for length in lengths if length is not None]))


@lru_cache(maxsize=8_192)
def _parse_statement(text: str) -> Parsed:
    tree = parse(text.strip().removesuffix(";"))
    if not isinstance(tree, exp.Select):
        raise Mistake(f"{type(tree).__name__} is not a SELECT", SHAPE)
    _check_shape(tree)
    stream = _strip_qualifiers(tree)
    keys, (time, window) = _grouping(tree)
    where = canonical(tree.args["where"].this) if tree.args.get("where") else ""
    aggregates, columns = _columns(tree, keys, window)
    having = tree.args["having"].this.sql("spark") if tree.args.get("having") else ""
    return Parsed(stream, time, window, where, keys, aggregates, columns, bind_condition(having, aggregates, columns))


def _check_shape(tree: exp.Select) -> None:
    for part, value in tree.args.items():
        if value and part not in ("expressions", "from_", "where", "group", "having"):
            raise Mistake(f"{part.rstrip('_').upper().replace('_', ' ')} is refused in a query", SHAPE)
    for part, word in (("from_", "FROM"), ("group", "GROUP BY")):
        if not tree.args.get(part):
            raise Mistake(f"there is no {word}", SHAPE)
    if any(value for part, value in tree.args["group"].args.items() if part != "expressions"):
        raise Mistake("ROLLUP, CUBE, GROUPING SETS and GROUP BY ALL are refused", SHAPE)


def _strip_qualifiers(tree: exp.Select) -> str:
    """Return the stream's name; columns written stream.x or alias.x become x."""
    table = tree.args["from_"].this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise Mistake("FROM does not name a stream", "read FROM one stream; subqueries and functions are refused")
    more = any(value for part, value in table.args.items() if part not in ("this", "alias"))
    if more or not NAME.fullmatch(table.name):
        raise Mistake(f"{show(table.sql('spark'))} is not a stream", "read FROM the plain name of one stream")
    names = {table.name.lower(), (table.alias or table.name).lower()}
    for column in tree.find_all(exp.Column):
        if column.table.lower() in names:
            column.set("table", None)
    return str(table.name)


def _grouping(tree: exp.Select) -> tuple[tuple[str, ...], tuple[str, Window]]:
    keys: list[str] = []
    windows: list[tuple[str, Window]] = []
    for item in tree.args["group"].expressions:
        if _is_window(item):
            windows.append(parse_window_call(item))
        else:
            keys.append(_key(item))
    if len(windows) != 1:
        raise Mistake(f"GROUP BY has {len(windows)} windows", "group by exactly one window(time, range[, slide])")
    if len({key.lower() for key in keys}) < len(keys):
        raise Mistake("GROUP BY names a column twice", "name each key once")
    return tuple(keys), windows[0]


def _is_window(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Anonymous) and str(tree.this).lower() == "window"


def _key(tree: exp.Expr) -> str:
    if not isinstance(tree, exp.Column) or tree.args.get("table"):
        raise Mistake(f"GROUP BY {show(tree.sql('spark'))} is refused", "group by plain columns and one window")
    check(tree)
    return str(tree.name)


def parse_window_call(tree: exp.Expr) -> tuple[str, Window]:
    """window(time, range[, slide[, offset]]): the time column and the window."""
    arguments = tree.expressions
    if not 2 <= len(arguments) <= 4:
        raise Mistake(f"window has {len(arguments)} arguments", "write window(time, range[, slide[, offset]])")
    if not isinstance(arguments[0], exp.Column) or arguments[0].args.get("table"):
        raise Mistake("the first argument of window is no column", "name the stream's time column")
    check(arguments[0])
    return str(arguments[0].name), _window([_length(argument) for argument in arguments[1:]])


def _window(lengths: list[int]) -> Window:
    slide = lengths[1] if len(lengths) > 1 else lengths[0]
    return make_window(lengths[0], slide, lengths[2] if len(lengths) > 2 else 0)


def _length(tree: exp.Expr) -> int:
    if isinstance(tree, exp.Literal):
        return parse_duration(tree.name if tree.is_string else f"{tree.name} microseconds")
    if isinstance(tree, exp.Interval) and isinstance(tree.this, exp.Literal) and tree.args.get("unit"):
        return parse_duration(f"{tree.this.name} {tree.args['unit'].name}")
    raise Mistake(f"{show(tree.sql('spark'))} is not a duration", "write it like '1 minute'")


def _columns(
    tree: exp.Select, keys: tuple[str, ...], window: Window
) -> tuple[tuple[SelectedAggregate, ...], tuple[ParsedColumn, ...]]:
    aggregates: list[SelectedAggregate] = []
    columns: list[ParsedColumn] = []
    for item in tree.expressions:
        inner, name = unalias(item)
        if part := _window_part(inner, window):
            columns.append(ParsedColumn(name or inner.name or "window", part, "window"))
        elif key := _selected_key(inner, keys):
            columns.append(ParsedColumn(name or inner.name, key, "key"))
        else:
            aggregates.append(read_aggregate(item))
            columns.append(ParsedColumn(aggregates[-1].name, len(aggregates) - 1, "answer"))
    if not aggregates:
        raise Mistake("there is no aggregate", SHAPE)
    check_names([column.name for column in columns])
    return tuple(aggregates), tuple(columns)


def check_names(names: list[str]) -> None:
    """Refuse two columns of a result whose names are equal, or differ in case alone."""
    lower_names: set[str] = set()
    for name in names:
        if name.lower() in lower_names:
            raise Mistake(f"two columns are named {show(name)}", "give one of them another name with AS")
        lower_names.add(name.lower())


def _window_part(tree: Any, window: Window) -> str:
    if _is_window(tree):
        if parse_window_call(tree)[1] != window:
            raise Mistake("SELECT and GROUP BY have different windows", "repeat the same window, or select window")
        return "window"
    if isinstance(tree, exp.Dot) and _is_window(tree.this):
        return _window_part(tree.this, window) + "." + _start_or_end(tree.expression.name)
    if isinstance(tree, exp.Column):
        if tree.table.lower() == "window":
            return "window." + _start_or_end(tree.name)
        if not tree.table and tree.name.lower() == "window":
            return "window"
    return ""


def _start_or_end(name: str) -> str:
    if name.lower() not in ("start", "end"):
        raise Mistake(f"a window has no {show(name)}", "it has window.start and window.end")
    return name.lower()


def _selected_key(tree: exp.Expr, keys: tuple[str, ...]) -> str:
    if not isinstance(tree, exp.Column):
        return ""
    for key in keys:
        if not tree.table and key.lower() == tree.name.lower():
            return key
    raise Mistake(f"{show(tree.sql('spark'))} is selected but not grouped by", "add it to GROUP BY or aggregate it")


def bind_condition(text: str, aggregates: Sequence[SelectedAggregate], columns: Columns) -> str:
    """Return a condition over the names of a statement's columns; aggregates in it become the columns that hold them.

    >>> columns = [("k", "k", "key"), ("peak", 0, "answer")]
    >>> bind_condition("max(x) > 90 AND k <> 'a'", [SelectedAggregate("max", ("x",), "peak")], columns)
    "peak > 90 AND k <> 'a'"
    """
    if not text:
        return ""
    names = {name.lower(): name for name, _, kind in columns if kind != "window"}
    for name, key, kind in columns:
        if kind == "key":
            names.setdefault(str(key).lower(), name)
    if len(aggregates) == 1:
        names.setdefault(VALUE, aggregates[0].name)
    tree = _replace_aggregates(parse(text), {(one.aggregate, one.arguments): one.name for one in aggregates})
    for column in list(tree.find_all(exp.Column)):
        if column.args.get("table") or column.name.lower() not in names:
            right = f"it may name {', '.join(dict.fromkeys(names.values()))}; select what else it needs"
            raise Mistake(f"{show(column.sql('spark'))} is no column of the answer", right)
        column.set("this", exp.to_identifier(names[column.name.lower()], quoted=True))
    return canonical(tree)


def _replace_aggregates(tree: exp.Expr, names: dict[tuple[str, tuple[str, ...]], str]) -> exp.Expr:
    def replace(node: exp.Expr) -> exp.Expr:
        called = node.this if isinstance(node, exp.Filter) else node
        name = str(called.this).lower() if isinstance(called, exp.Anonymous) else ""
        if name in AGGREGATE_NAMES or name == "count_if" or isinstance(called, exp.WithinGroup):
            aggregate = read_aggregate(node)
            if aggregate[:2] not in names:
                raise Mistake(f"{show(node.sql('spark'))} is not selected", "select it, too")
        elif name == "exp" or isinstance(called, exp.Sub):  # which may be one aggregate, or be made of several
            try:
                aggregate = read_aggregate(node)
            except Mistake:
                return node
        else:
            return node
        at = names.get(aggregate[:2])
        return exp.column(exp.to_identifier(at, quoted=True)) if at else node

    return tree.transform(replace)
