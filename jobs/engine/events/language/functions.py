"""The functions that the file lane evaluates: how each converts its arguments, and the kernel that computes it.

FUNCTIONS is the list. A function that refuses its arguments with NotExact sends its query to Spark; docs/catalog.md is
told by LEFT_TO_SPARK what is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
from sqlglot import exp

from jobs.engine.events.language import arithmetic, comparisons, mathematics, texts, times
from jobs.engine.events.language.nodes import (
    Kernel,
    Node,
    apply,
    choose,
    combine,
    convert,
    fit_literal,
    literal_of,
    require,
    require_clock,
    require_kept_casts,
    to_common,
    whole,
)
from jobs.engine.events.language.vectors import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INSTANT,
    INT,
    LOCAL,
    LONG,
    NULL,
    SHORT,
    TEXT,
    TRUTH,
    is_number,
)


class Call(NamedTuple):
    """A call of a function: its name, its arguments, and the zone that clocks show."""

    name: str
    parts: list[Node]
    zone: str

    def converted(self, *kinds: pa.DataType) -> list[Node]:
        """Return the arguments in these types."""
        return [convert(part, kind, self.zone) for part, kind in zip(self.parts, kinds, strict=True)]


@dataclass(frozen=True)
class Function:
    """How a call becomes a node; whether its last digit is open, and whether it may be of such a value."""

    build: Callable[[Call], Node]
    is_open: bool = False
    keeps_open: bool = False


def _of_doubles(kernel: Kernel, is_open: bool = False, keeps_open: bool = False) -> Function:
    def build(call: Call) -> Node:
        for part in call.parts:
            require(is_number(part.type) or part.type == NULL, f"{call.name} of a {part.type}")
        parts = call.converted(*[DOUBLE] * len(call.parts))
        return apply(DOUBLE, kernel, *parts, is_open=is_open or any(part.is_open for part in parts))

    return Function(build, is_open, keeps_open)


def _log(call: Call) -> Node:
    return FUNCTIONS["ln"].build(call) if len(call.parts) == 1 else _of_doubles(mathematics.log_of_base).build(call)


def _of_itself(kernel: Kernel, keeps_open: bool = False) -> Function:
    def build(call: Call) -> Node:
        (part,) = call.parts
        require(is_number(part.type), f"{call.name} of a {part.type}")
        return apply(part.type, kernel, part, is_open=part.is_open)

    return Function(build, keeps_open=keeps_open)


def _of_anything(kernel: Kernel) -> Function:
    return Function(lambda call: apply(TRUTH, kernel, *call.parts))


def _is_nan(call: Call) -> Node:
    (part,) = call.parts
    require(is_number(part.type), f"isnan of a {part.type}")
    return apply(TRUTH, comparisons.is_nan, part if part.type == FLOAT else convert(part, DOUBLE, call.zone))


def _of_common(kernel: Kernel, keeps_open: bool = False) -> Function:
    def build(call: Call) -> Node:
        parts = to_common(call.zone, *call.parts)
        return apply(parts[0].type, kernel, *parts, is_open=any(part.is_open for part in parts))

    return Function(build, keeps_open=keeps_open)


def _if(call: Call) -> Node:
    condition, *values = call.parts
    require(condition.type in (TRUTH, NULL) and not condition.is_open, "if of no condition")
    return choose(call.zone, [convert(condition, TRUTH, call.zone)], values)


def _null_if(call: Call) -> Node:
    a, b = call.parts
    sides = to_common(call.zone, fit_literal(a, b), fit_literal(b, a))
    require_kept_casts(call.zone, *sides)
    return apply(a.type, comparisons.null_if, *sides, a)


def _nan_value(call: Call) -> Node:
    for part in call.parts:
        require(is_number(part.type), f"nanvl of a {part.type}")
    kind = FLOAT if all(part.type == FLOAT for part in call.parts) else DOUBLE
    return apply(kind, comparisons.nan_value, *call.converted(kind, kind))


def _remainder(kernel: Kernel) -> Function:
    def build(call: Call) -> Node:
        a, b = call.parts
        require(is_number(a.type) and is_number(b.type), f"{call.name} of {a.type} and {b.type}")
        return combine(call.zone, exp.Mod, a, b, kernel)

    return Function(build)


def _count_bits(call: Call) -> Node:
    (part,) = call.parts
    require(whole(part) or part.type == TRUTH, f"bit_count of a {part.type}")
    return apply(INT, arithmetic.count_bits, part)


def _shift(kernel: Kernel) -> Function:
    def build(call: Call) -> Node:
        a, b = call.parts
        require(whole(a) and b.type in (INT, SHORT, BYTE), f"{call.name} of {a.type} and {b.type}")
        kind = LONG if a.type == LONG else INT
        return apply(kind, kernel, *call.converted(kind, INT))

    return Function(build)


@lru_cache(maxsize=256)
def _rounding(digits: int, to_even: bool) -> Kernel:
    return mathematics.round_to(digits, to_even)


def _round(to_even: bool) -> Function:
    def build(call: Call) -> Node:
        part = call.parts[0]
        require(whole(part) or part.type in (FLOAT, DOUBLE), f"{call.name} of a {part.type}")
        digits = literal_of(call.parts[1]) if len(call.parts) > 1 else 0
        require(isinstance(digits, int) and abs(digits) < 400, f"{call.name} to {digits} digits")
        return apply(part.type, _rounding(digits, to_even), part)

    return Function(build)


def _whole(kernel: Kernel) -> Function:
    def build(call: Call) -> Node:
        require(len(call.parts) == 1, f"{call.name} to a number of digits")
        part = call.parts[0]
        require(whole(part) or part.type in (FLOAT, DOUBLE), f"{call.name} of a {part.type}")
        return apply(LONG, kernel, convert(part, LONG if whole(part) else DOUBLE, call.zone))

    return Function(build)


def _of_text(kernel: Kernel, result: pa.DataType = TEXT) -> Function:
    def build(call: Call) -> Node:
        require(call.parts[0].type == TEXT, f"{call.name} of a {call.parts[0].type}")
        return apply(result, kernel, call.parts[0])

    return Function(build)


def _of_case(kernel: Kernel) -> Function:
    """Return upper or lower; of one another, Spark leaves the inner one out."""

    def build(call: Call) -> Node:
        return _of_text(kernel).build(call._replace(parts=[without_case(call.parts[0])]))

    return Function(build)


def without_case(node: Node) -> Node:
    """Return the argument of upper or lower; any other node as it is."""
    return without_case(node.parts[0]) if node.kernel in (texts.upper, texts.lower) else node


def _with_text(kernel: Callable[[str], Kernel]) -> Function:
    def build(call: Call) -> Node:
        a, part = call.parts
        require(a.type == TEXT and part.type == TEXT, f"{call.name} of {a.type} and {part.type}")
        return apply(TRUTH, kernel(literal_of(part)), a)

    return Function(build)


def _with_numbers(kernel: Callable[..., Kernel]) -> Function:
    def build(call: Call) -> Node:
        a, *numbers = call.parts
        require(a.type == TEXT and all(number.type == INT for number in numbers), f"{call.name} of a {a.type}")
        return apply(TEXT, kernel(*map(literal_of, numbers)), a)

    return Function(build)


def _concat(call: Call) -> Node:
    return apply(TEXT, texts.concat, *call.converted(*[TEXT] * len(call.parts)))


def _of_date(kernel: Kernel) -> Function:
    def build(call: Call) -> Node:
        (part,) = call.parts
        require(part.type in (DATE, INSTANT, LOCAL), f"{call.name} of a {part.type}")
        return apply(INT, kernel, convert(part, DATE, call.zone))

    return Function(build)


def _of_clock(unit: int, modulus: int) -> Function:
    kernel = times.clock_of(unit, modulus)

    def build(call: Call) -> Node:
        (part,) = call.parts
        require(part.type in (DATE, INSTANT, LOCAL), f"{call.name} of a {part.type}")
        return apply(INT, kernel, convert(part, LOCAL, call.zone))

    return Function(build)


def _since_epoch(unit: int) -> Function:
    kernel = times.since_epoch(unit)

    def build(call: Call) -> Node:
        (part,) = call.parts
        require(part.type in (INSTANT, DATE), f"{call.name} of a {part.type}")
        return apply(LONG, kernel, convert(part, INSTANT, call.zone))

    return Function(build)


def _truncate(call: Call) -> Node:
    unit, part = call.parts
    require(unit.type == TEXT and part.type in (DATE, INSTANT, LOCAL), f"date_trunc of a {part.type}")
    require_clock(LOCAL, INSTANT, call.zone)
    return apply(INSTANT, times.truncate(literal_of(unit), call.zone), convert(part, INSTANT, call.zone))


FUNCTIONS: dict[str, Function] = {
    "abs": _of_itself(arithmetic.absolute, keeps_open=True),
    "acos": _of_doubles(mathematics.acos),
    "asin": _of_doubles(mathematics.asin),
    "atan": _of_doubles(mathematics.atan),
    "atan2": _of_doubles(mathematics.atan2),
    "bit_count": Function(_count_bits),
    "bround": _round(to_even=True),
    "cbrt": _of_doubles(mathematics.cbrt, is_open=True),
    **dict.fromkeys(("ceil", "ceiling"), _whole(mathematics.ceiling)),
    **dict.fromkeys(("coalesce", "nvl", "ifnull"), _of_common(comparisons.coalesce, keeps_open=True)),
    "concat": Function(_concat),
    "contains": _with_text(texts.contains),
    "cos": _of_doubles(mathematics.cos, is_open=True),
    "cosh": _of_doubles(mathematics.cosh, is_open=True),
    "date_trunc": Function(_truncate),
    **dict.fromkeys(("day", "dayofmonth"), _of_date(times.day)),
    "dayofweek": _of_date(times.day_of_week),
    "dayofyear": _of_date(times.day_of_year),
    "degrees": _of_doubles(mathematics.degrees, keeps_open=True),
    "endswith": _with_text(texts.ends_with),
    "exp": _of_doubles(mathematics.exp),
    "expm1": _of_doubles(mathematics.expm1),
    "floor": _whole(mathematics.floor),
    "greatest": _of_common(comparisons.greatest),
    "hour": _of_clock(times.HOUR, 24),
    "hypot": _of_doubles(mathematics.hypot),
    "if": Function(_if, keeps_open=True),
    "isnan": Function(_is_nan),
    "isnotnull": _of_anything(comparisons.is_not_null),
    "isnull": _of_anything(comparisons.is_null),
    "least": _of_common(comparisons.least),
    "left": _with_numbers(texts.left),
    **dict.fromkeys(("length", "char_length"), _of_text(texts.length, INT)),
    "ln": _of_doubles(mathematics.ln),
    "log": Function(_log),
    "log10": _of_doubles(mathematics.log10),
    "log1p": _of_doubles(mathematics.log1p),
    "log2": _of_doubles(mathematics.log2),
    **dict.fromkeys(("lower", "lcase"), _of_case(texts.lower)),
    "ltrim": _of_text(texts.trim_left),
    "minute": _of_clock(times.MINUTE, 60),
    "mod": _remainder(arithmetic.remainder),
    "month": _of_date(times.month),
    "nanvl": Function(_nan_value),
    "nullif": Function(_null_if),
    "pmod": _remainder(arithmetic.positive_remainder),
    **dict.fromkeys(("pow", "power"), _of_doubles(mathematics.power)),
    "quarter": _of_date(times.quarter),
    "radians": _of_doubles(mathematics.radians, keeps_open=True),
    "right": _with_numbers(texts.right),
    "rint": _of_doubles(mathematics.rint),
    "round": _round(to_even=False),
    "rtrim": _of_text(texts.trim_right),
    "second": _of_clock(times.SECOND, 60),
    "shiftleft": _shift(arithmetic.shift_left),
    "shiftright": _shift(arithmetic.shift_right),
    **dict.fromkeys(("sign", "signum"), _of_doubles(mathematics.sign)),
    "sin": _of_doubles(mathematics.sin, is_open=True),
    "sinh": _of_doubles(mathematics.sinh, is_open=True),
    "sqrt": _of_doubles(mathematics.square_root),
    "startswith": _with_text(texts.starts_with),
    **dict.fromkeys(("substring", "substr"), _with_numbers(texts.substring)),
    "tan": _of_doubles(mathematics.tan, is_open=True),
    "tanh": _of_doubles(mathematics.tanh, is_open=True),
    "trim": _of_text(texts.trim),
    "unix_micros": _since_epoch(1),
    "unix_millis": _since_epoch(1_000),
    "unix_seconds": _since_epoch(1_000_000),
    **dict.fromkeys(("upper", "ucase"), _of_case(texts.upper)),
    "year": _of_date(times.year),
}

# an example of what only Spark evaluates -> in words; docs/catalog.md shows them, and a test tries the examples
LEFT_TO_SPARK: dict[str, str] = {
    "sin(x) > 0": "digits that Java leaves open (OPEN) in a predicate, or in anything but a product, `abs` or a branch",
    "CAST(x AS STRING)": "floats as texts",
    "CAST(x AS DECIMAL(9, 2)) > 1": "floats and texts as decimals",
    "CAST(s AS TIMESTAMP) < ts": "texts as times, unless they are literals with a date written in full",
    "s > 5": "texts beside numbers, which Spark casts",
    "s LIKE other": "patterns, parts of texts, digits of `round` and units of `date_trunc` that are not literals",
    "floor(x, 1) > 0": "`ceil` and `floor` to a number of digits, and decimals rounded by any function",
    "1 / 0": "constants that Spark refuses",
    "n + 1 - 2 > 0": "sums or products of whole numbers with several constants, which Spark moves: other ones overflow",
    "CASE WHEN 1 / n > x THEN 2 ELSE 2 END": "what decides nothing and Spark does not compute: this, or `1 / n > NULL`",
}
