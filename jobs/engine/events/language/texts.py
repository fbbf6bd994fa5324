"""Texts, by their code points and without any locale, as Spark has them in its default collation."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.language.vectors import INT, TEXT, TRUTH, NotExact, Vector, join, of_texts, strict, texts_of

MOST = 2_147_483_647
Map = Callable[[Any], Any]
# capital and small letters that Unicode got after Python 3.11 did: Spark's ICU knows them
CAPITAL_TO_SMALL = {
    **{0x10D50 + n: 0x10D70 + n for n in range(22)},
    **{0x16EA0 + n: 0x16EBB + n for n in range(25)},
    0xA7DC: 0x19B,
    0xA7CB: 0x264,
    0x1C89: 0x1C8A,
    **{capital: capital + 1 for capital in (0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA)},
}
SMALL_TO_CAPITAL = {small: capital for capital, small in CAPITAL_TO_SMALL.items()}


def map_texts(function: Map) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a function from Arrow texts to Arrow texts; each entry of a dictionary is mapped once."""

    def evaluate(kind: pa.DataType, a: Vector) -> Vector:
        array = a.values
        if not pa.types.is_dictionary(array.type):
            return of_texts(function(array), a.errors, a.reason)
        return of_texts(function(array.dictionary).take(array.indices), a.errors, a.reason)

    return evaluate


def measure_texts(kind: pa.DataType, function: Map) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a function from Arrow texts to numbers or truths."""

    def evaluate(_: pa.DataType, a: Vector) -> Vector:
        array = a.values
        if not pa.types.is_dictionary(array.type):
            return strict(kind, _numbers(function(array)), a)
        of_entries = _numbers(function(array.dictionary))
        if not len(of_entries):
            return strict(kind, np.zeros(len(a), of_entries.dtype), a)
        return strict(kind, of_entries[array.indices.fill_null(0).to_numpy()], a)

    return evaluate


def _numbers(array: Any) -> Any:
    return np.asarray(array.fill_null(0 if array.type == INT else False))


def each_text(function: Callable[[str], Any], kind: pa.DataType = TEXT) -> Map:
    """Return the map of all distinct texts by a function of Python."""

    def evaluate(array: Any) -> Any:
        encoded = array.dictionary_encode()
        mapped = pa.array([function(text) for text in encoded.dictionary.to_pylist()], kind)
        return mapped.take(encoded.indices)

    return evaluate


def _or_ascii(function: Map, on_ascii: Map) -> Map:
    """Return a map that Arrow does where all texts are ASCII, which most are."""

    def evaluate(array: Any) -> Any:
        return on_ascii(array) if pc.all(pc.string_is_ascii(array), min_count=0).as_py() else function(array)

    return evaluate


def to_upper(text: str) -> str:
    """Return a text in capitals, by Unicode's full mapping.

    >>> to_upper("straße")
    'STRASSE'
    """
    return text.upper().translate(SMALL_TO_CAPITAL)


def to_lower(text: str) -> str:
    """Return a text in small letters, by Unicode's full mapping.

    >>> to_lower("ΑΣ")
    'ας'
    """
    return text.lower().translate(CAPITAL_TO_SMALL)


upper = map_texts(_or_ascii(each_text(to_upper), pc.ascii_upper))
lower = map_texts(_or_ascii(each_text(to_lower), pc.ascii_lower))
length = measure_texts(INT, pc.utf8_length)
trim = map_texts(lambda array: pc.utf8_trim(array, characters=" "))
trim_left = map_texts(lambda array: pc.utf8_ltrim(array, characters=" "))
trim_right = map_texts(lambda array: pc.utf8_rtrim(array, characters=" "))


def starts_with(part: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of startswith(a, part)."""
    return measure_texts(TRUTH, lambda array: pc.starts_with(array, part))


def ends_with(part: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of endswith(a, part)."""
    return measure_texts(TRUTH, lambda array: pc.ends_with(array, part))


def contains(part: str) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of contains(a, part)."""
    return measure_texts(TRUTH, lambda array: pc.match_substring(array, part))


def substring(start: int, count: int = MOST) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of substring(a, start, count): from 1 on, or from the end where the start is negative."""
    return map_texts(lambda array: _slice(array, start, count))


def _slice(array: Any, start: int, count: int) -> Any:
    first = start - 1 if start > 0 else start
    if start >= 0:
        first = max(first, 0)
        return _cut(array, first, min(first + count, MOST))
    if count <= 0:
        return _cut(array, 0, 0)
    stop = first + count
    lengths = pc.utf8_length(array)
    reaches = pc.less(lengths, -start)  # texts that are shorter than the start is far from the end
    whole = _cut(array, first, None if stop >= 0 else stop)
    if not pc.any(reaches, min_count=0).as_py():
        return whole
    return _merge(array, whole, reaches, first, count)


def _merge(array: Any, whole: Any, reaches: Any, first: int, count: int) -> Any:
    """Return the slices of texts that begin after the start; what is counted before their beginning is lost."""
    short = each_text(lambda text: text[: max(len(text) + first + count, 0)])(array)
    return pc.if_else(reaches, short, whole)


def _cut(array: Any, start: int, stop: int | None) -> Any:
    if stop is not None and 0 <= stop <= start:
        return pc.if_else(array.is_valid(), pa.scalar(""), pa.scalar(None, TEXT))
    return pc.utf8_slice_codeunits(array, start, stop)


def left(count: int) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of left(a, count)."""
    return substring(1, max(count, 0))


def right(count: int) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of right(a, count)."""
    return substring(1, 0) if count <= 0 else substring(-count)


def concat(kind: pa.DataType, *parts: Vector) -> Vector:
    """Return texts one behind the other; null where one of them is."""
    _, errors, reason = join(*parts)
    rows = max(len(part) for part in parts) if all(len(part) for part in parts) else 0
    sides = [texts_of(part)[0] if len(part) == 1 != rows else texts_of(part) for part in parts]
    texts = pc.binary_join_element_wise(*sides, "", null_handling="emit_null")
    return of_texts(pa.array([texts.as_py()], TEXT) if isinstance(texts, pa.Scalar) else texts, errors, reason)


@lru_cache(maxsize=1_024)
def like(pattern: str, ignores_case: bool) -> Callable[[pa.DataType, Vector], Vector]:
    """Return the kernel of a LIKE pattern: % is anything, _ one code point, and \\ takes the next one as it is."""
    tokens = _tokens(to_lower(pattern) if ignores_case else pattern)
    plain = "".join(token for token in tokens if len(token) == 1)
    inner = [token for token in tokens if len(token) > 1]
    if not ignores_case and "one" not in inner:
        kinds = [len(token) > 1 for token in tokens]
        if not any(kinds):
            return measure_texts(TRUTH, lambda array: pc.equal(array, plain))
        if kinds == [False] * len(plain) + [True]:
            return starts_with(plain)
        if kinds == [True] + [False] * len(plain):
            return ends_with(plain)
        if plain and kinds == [True] + [False] * len(plain) + [True]:
            return contains(plain)
    parts = {"any": ".*", "one": "."}
    expression = re.compile("".join(parts.get(token) or re.escape(token) for token in tokens), re.DOTALL)

    def matches(text: str) -> bool:
        return expression.fullmatch(to_lower(text) if ignores_case else text) is not None

    return measure_texts(TRUTH, each_text(matches, TRUTH))


def _tokens(pattern: str) -> list[str]:
    """Return the parts of a pattern: `any`, `one`, or a character.

    >>> _tokens("a\\\\%_%")
    ['a', '%', 'one', 'any']
    """
    tokens, escaped = [], False
    for char in pattern:
        if escaped:
            if char not in "\\_%":
                raise NotExact("a LIKE pattern with \\ before anything but % _ \\")
            tokens.append(char)
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            tokens.append({"%": "any", "_": "one"}.get(char, char))
    if escaped:
        raise NotExact("a LIKE pattern that ends with \\")
    return tokens
