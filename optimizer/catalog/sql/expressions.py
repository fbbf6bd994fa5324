"""Expressions: parsed, checked against the allow list, and printed again from the tree."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.sql import grammar
from optimizer.catalog.sql.grammar import PlainSpark, add_brackets
from optimizer.errors import Mistake, did_you_mean, show

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # its warnings would stand beside our one line

LONGEST = 20_000  # characters of one expression or statement
DEEPEST = 60  # brackets within brackets
DEEPEST_TREE = 150  # far from Python's limit and from Spark's, which recurse over trees
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
AGGREGATE_NAMES: dict[str, str] = {
    name: aggregate.name for aggregate in AGGREGATES.values() for name in (aggregate.name, *aggregate.aliases)
}

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
Node = TypeVar("Node")


_SPARK = PlainSpark()
_KEYWORDS = frozenset(PlainSpark.Tokenizer.KEYWORDS)


def as_mistake(parse: Callable[[str], Node]) -> Callable[[str], Node]:
    """Turn whatever a parser trips over into one line for the user."""

    def parse_or_refuse(text: str) -> Node:
        check_text(text)
        try:
            return parse(text)
        except SqlglotError as error:
            raise Mistake(f"{show(text)} is not Spark SQL ({_reason(error)})", "mend the syntax") from None
        except RecursionError:
            raise Mistake(f"{show(text)} is nested too deeply", "write it flatter") from None
        except Mistake:
            raise
        except Exception:  # whatever sqlglot does on a malformed text, the user gets one line
            raise Mistake(f"{show(text)} is not Spark SQL", "mend the syntax") from None

    return parse_or_refuse


def _reason(error: SqlglotError) -> str:
    return str(error).splitlines()[0].split(". Line ")[0].strip()[:80] if str(error) else "syntax error"


def check_text(text: str) -> None:
    """Refuse what must not even reach the parser: comments, several statements, templates, control characters."""
    if len(text) > LONGEST:
        raise Mistake(f"it has {len(text):,} characters", f"keep it under {LONGEST:,}")
    if any((ord(char) < 32 and char not in "\t\n\r") or 0xD800 <= ord(char) < 0xE000 for char in text):
        raise Mistake(f"{show(text)} has control characters", "remove them")
    if "${" in text:
        raise Mistake("variables (${...}) are refused", "write the value itself")
    bare = _QUOTED.sub("''", text)
    for token, name in (("--", "a comment"), ("/*", "a comment"), (";", "a second statement"), ("{", "a template")):
        if token in bare:
            raise Mistake(f"{name} ({token}) is refused", "remove it")
    if _depth(bare) > DEEPEST:
        raise Mistake(f"{show(text)} is nested too deeply", f"at most {DEEPEST} brackets within brackets")


def _depth(text: str) -> int:
    deepest = depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        deepest = max(deepest, depth)
    return deepest


@as_mistake
def parse(text: str) -> exp.Expr:
    """Parse one expression or statement, without checking it against the allow list."""
    trees = _SPARK.parse(text)
    if len(trees) != 1 or trees[0] is None:
        raise Mistake("it is empty" if not text.strip() else "it is not one expression", "write one expression")
    tree: exp.Expr = trees[0]
    if _tree_depth(tree) > DEEPEST_TREE:
        raise Mistake(f"{show(text)} is nested too deeply", f"at most {DEEPEST_TREE} operators within operators")
    return tree


def _tree_depth(tree: exp.Expr) -> int:
    depth, level = 0, [tree]
    while level:
        depth, level = depth + 1, [child for node in level for child in node.iter_expressions()]
    return depth


def check(tree: exp.Expr) -> None:
    """Walk the whole tree; raise at the first node, part, function, type or name that the allow list lacks."""
    for node in _walk(tree):
        _check_node(node)


def _walk(tree: exp.Expr) -> Iterator[exp.Expr]:
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(node.iter_expressions())))


def _check_node(node: exp.Expr) -> None:
    parts = grammar.NODES.get(type(node))
    if parts is None:
        name = type(node).__name__
        raise Mistake(f"{grammar.REFUSED.get(name, name)} is refused", "use plain columns, operators and functions")
    for part, value in node.args.items():
        if part not in parts and value not in (None, False, []):
            construct = "a subquery" if part == "query" else f"{type(node).__name__} with {part}"
            raise Mistake(f"{construct} is refused", "use plain columns, operators and functions")
    if isinstance(node, exp.Anonymous):
        _check_function(node)
    elif isinstance(node, exp.Identifier):
        _check_name(node.name)
    elif isinstance(node, exp.Literal) and not node.is_string:
        _check_number(node.name)
    elif isinstance(node, exp.DataType) and node.this.name not in grammar.TYPES:
        raise Mistake(f"the type {node.this.name} is refused", "cast to a number, string, date, timestamp or boolean")


def _check_function(node: exp.Anonymous) -> None:
    name = str(node.this).lower() if isinstance(node.this, str) else "?"
    count = len(node.expressions)
    if name in AGGREGATE_NAMES:
        raise Mistake(f"the aggregate {name} is inside an expression", "an aggregate stands alone in select")
    if name not in grammar.FUNCTIONS:
        raise Mistake(
            f"the function {show(name)[1:-1]} is refused",
            did_you_mean(name, grammar.FUNCTIONS, "docs/catalog.md lists the functions"),
        )
    low, high = grammar.FUNCTIONS[name]
    if not low <= count <= high:
        takes = str(low) if low == high else f"{low} to {high}"
        raise Mistake(f"{name} has {count} arguments", f"it takes {takes}")


def _check_name(name: str) -> None:
    if name.lower() in grammar.HIDDEN:
        raise Mistake(f"{name} is refused", "it is not a column of the events")
    if not name or len(name) > 128:
        raise Mistake(f"{show(name)} is no column name", "a name has 1 to 128 characters")


def _check_number(text: str) -> None:
    digits = sum(char.isdigit() for char in text)
    try:
        finite = abs(float(text)) < float("inf")
    except ValueError:
        finite = False
    if not finite or digits > 38:
        raise Mistake(f"the number {show(text)} is too large or too long", "use at most 38 digits")


def print_tree(tree: exp.Expr) -> str:
    """Return canonical Spark SQL: the same text for every way to write the same tree.

    >>> print_tree(parse("MAX( `x` )+1"))
    'max(x) + 1'
    """
    add_brackets(tree)
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", not plain(name.name))
    try:
        text: str = _SPARK.generate(tree, comments=False, normalize_functions="lower")
    except RecursionError:
        raise Mistake("it is nested too deeply", "write it flatter") from None
    return text


@lru_cache(maxsize=8_192)
def plain(name: str) -> bool:
    """Say whether a name may stand without backquotes.

    >>> plain("price"), plain("two words"), plain("select")
    (True, False, False)
    """
    return NAME.fullmatch(name) is not None and name.upper() not in _KEYWORDS


def quote(name: str) -> str:
    """Return a name as SQL, in backquotes where it needs them.

    >>> quote("price"), quote("two words")
    ('price', '`two words`')
    """
    return name if plain(name) else in_backquotes(name)


def in_backquotes(name: str) -> str:
    """Return a name in backquotes, whatever it is.

    >>> in_backquotes("price"), in_backquotes("a`b")
    ('`price`', '`a``b`')
    """
    return "`" + name.replace("`", "``") + "`"


def free_name(name: str, used: Collection[str]) -> str:
    """Return the name with _ appended until it is none of the used ones, which are in small letters.

    >>> free_name("window", {"price", "window"})
    'window_'
    """
    while name.lower() in used:
        name += "_"
    return name


def named_column(sql: str) -> str | None:
    """Return the column that an expression is, or None where it is more: what `quote` made, read back.

    >>> named_column("price"), named_column("`x + y`"), named_column("x + y")
    ('price', 'x + y', None)
    """
    if plain(sql):
        return sql
    name = sql[1:-1].replace("``", "`")
    return name if quote(name) == sql else None


@lru_cache(maxsize=8_192)
def columns_read(sql: str) -> frozenset[str]:
    """Return the columns that an expression reads; of a field of a struct, the struct.

    >>> sorted(columns_read("a + `b c` * d.e"))
    ['a', 'b c', 'd']
    """
    return frozenset(str(column.parts[0].name) for column in parse(sql).find_all(exp.Column))


@lru_cache(maxsize=65_536)
def expression(text: str) -> str:
    """Return the canonical form of a user's expression; raise a Mistake for what the allow list lacks.

    >>> expression("(Price*volume)")
    'Price * volume'
    """
    return canonical(parse(text))


def canonical(tree: exp.Expr) -> str:
    """Check a tree and print it."""
    tree = tree.unnest()
    check(tree)
    return print_tree(tree)


@lru_cache(maxsize=65_536)
def column_name(text: str) -> str:
    """Return the name of a plain column, without backquotes.

    >>> column_name("`two words`")
    'two words'
    """
    tree = parse(text)
    check(tree)
    if not isinstance(tree, exp.Column) or tree.args.get("table"):
        raise Mistake(f"{show(text)} is not a column", "group by plain columns of the stream")
    return str(tree.name)
