"""Spark's grammar of expressions: what binds tighter than what, what a literal is, and what a catalog may use of it.

The parser and the printer read the one table below, which follows Spark's SqlBaseParser.g4:

- `NOT` stands before a whole predicate, never inside a value: `a = NOT b` is refused.
- A predicate (`IS`, `IN`, `LIKE`, `BETWEEN`) follows a value once: `a = b IS NULL` is `(a = b) IS NULL`, and
  `a IS NULL = b` is refused.
- All comparisons bind alike, from the left: `a = b < c` is `(a = b) < c`.
- A minus right before a number is part of the number: `-2147483648` is an int.

The allow list names what an expression may be made of. What is not there never reaches Spark.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from optimizer.errors import Mistake

# operators of values, loosest first; all of them group from the left
LEVELS: tuple[dict[TokenType, type[exp.Expr]], ...] = (
    {
        TokenType.EQ: exp.EQ,
        TokenType.NEQ: exp.NEQ,
        TokenType.NULLSAFE_EQ: exp.NullSafeEQ,
        TokenType.LT: exp.LT,
        TokenType.LTE: exp.LTE,
        TokenType.GT: exp.GT,
        TokenType.GTE: exp.GTE,
    },
    {TokenType.PIPE: exp.BitwiseOr},
    {TokenType.CARET: exp.BitwiseXor},
    {TokenType.AMP: exp.BitwiseAnd},
    {TokenType.PLUS: exp.Add, TokenType.DASH: exp.Sub, TokenType.DPIPE: exp.DPipe},
    {TokenType.STAR: exp.Mul, TokenType.SLASH: exp.Div, TokenType.MOD: exp.Mod, TokenType.DIV: exp.IntDiv},
)
PREDICATES = (TokenType.BETWEEN, TokenType.IN, TokenType.LIKE, TokenType.ILIKE, TokenType.RLIKE, TokenType.IS)
# how tight a node binds: a looser one among its parts is printed in brackets
OR, AND, NOT, PREDICATE, VALUE = range(5)
UNARY = VALUE + len(LEVELS)
BINDING: dict[type[exp.Expr], int] = {
    exp.Or: OR,
    exp.And: AND,
    exp.Not: NOT,
    **dict.fromkeys((exp.Is, exp.Between, exp.In, exp.Like, exp.ILike, exp.NullSafeNEQ), PREDICATE),
    **{node: VALUE + level for level, nodes in enumerate(LEVELS) for node in nodes.values()},
    exp.Neg: UNARY,
    exp.BitwiseNot: UNARY,
}
_PARSERS: dict[str, Any] = Spark.Parser.FUNCTION_PARSERS
_NO_PARENS: dict[str, Any] = Spark.Parser.NO_PAREN_FUNCTION_PARSERS
# node -> the parts of it that may be filled; a part that is not named here must be empty
NODES: dict[type[exp.Expr], frozenset[str]] = {
    node: frozenset(parts)
    for node, parts in (
        (exp.Column, ("this", "table")),
        (exp.Identifier, ("this", "quoted")),
        (exp.Literal, ("this", "is_string")),
        (exp.Boolean, ("this",)),
        (exp.Null, ()),
        (exp.Paren, ("this",)),
        (exp.Anonymous, ("this", "expressions")),
        (exp.And, ("this", "expression")),
        (exp.Or, ("this", "expression")),
        (exp.Not, ("this",)),
        (exp.EQ, ("this", "expression")),
        (exp.NEQ, ("this", "expression")),
        (exp.NullSafeEQ, ("this", "expression")),
        (exp.NullSafeNEQ, ("this", "expression")),
        (exp.GT, ("this", "expression")),
        (exp.GTE, ("this", "expression")),
        (exp.LT, ("this", "expression")),
        (exp.LTE, ("this", "expression")),
        (exp.Is, ("this", "expression")),
        (exp.Between, ("this", "low", "high")),
        (exp.In, ("this", "expressions")),
        (exp.Like, ("this", "expression", "negate")),
        (exp.ILike, ("this", "expression", "negate")),
        (exp.Add, ("this", "expression")),
        (exp.Sub, ("this", "expression")),
        (exp.Mul, ("this", "expression")),
        (exp.Div, ("this", "expression", "typed", "safe")),
        (exp.IntDiv, ("this", "expression")),
        (exp.Mod, ("this", "expression")),
        (exp.Neg, ("this",)),
        (exp.BitwiseAnd, ("this", "expression")),
        (exp.BitwiseOr, ("this", "expression")),
        (exp.BitwiseXor, ("this", "expression")),
        (exp.BitwiseNot, ("this",)),
        (exp.DPipe, ("this", "expression", "safe")),
        (exp.Case, ("this", "ifs", "default")),
        (exp.If, ("this", "true", "false")),
        (exp.Cast, ("this", "to", "_type")),
        (exp.TryCast, ("this", "to", "safe", "_type")),
        (exp.DataType, ("this", "expressions")),
        (exp.DataTypeParam, ("this",)),
    )
}


class PlainSpark(Spark):
    """Spark's grammar without sqlglot's knowledge of functions: a function keeps its name and arguments as written."""

    class Tokenizer(Spark.Tokenizer):  # type: ignore[misc, valid-type]
        """Skip named windows: WINDOW as a keyword would make `GROUP BY window(...)` a clause of them."""

        KEYWORDS = {word: kind for word, kind in Spark.Tokenizer.KEYWORDS.items() if word != "WINDOW"}  # noqa: RUF012
        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012 (since Spark 4, a quote twice is a quote)

    class Parser(Spark.Parser):  # type: ignore[misc, valid-type]
        """Parse every function as an anonymous one, so that one list of names decides, and nothing is rewritten."""

        FUNCTIONS: dict[str, Any] = {}  # noqa: RUF012 (sqlglot's own way to configure a dialect)
        FUNCTION_PARSERS = {name: _PARSERS[name] for name in ("CAST", "TRY_CAST")}  # noqa: RUF012
        NO_PAREN_FUNCTION_PARSERS = {"CASE": _NO_PARENS["CASE"]}  # noqa: RUF012
        NO_PAREN_FUNCTIONS: dict[Any, Any] = {}  # noqa: RUF012

        def _parse_equality(self, parse_is: bool = True) -> Any:
            """Parse what AND and OR connect: a predicate, or its negation."""
            if self._match(TokenType.NOT):
                return self.expression(exp.Not(this=self._parse_equality()))
            return self._parse_predicate(self._parse_bitwise())

        def _parse_predicate(self, value: exp.Expr | None) -> Any:
            negated = self._curr.token_type == TokenType.NOT and self._next.token_type in PREDICATES
            if negated:
                self._advance()
            if self._curr.token_type not in PREDICATES:
                return value
            self._advance()
            predicate = self.RANGE_PARSERS[self._prev.token_type](self, value)
            return self._negate_range(predicate) if negated else predicate

        def _parse_bitwise(self, level: int = 0) -> Any:
            """Parse a value: its operators from this level on."""
            if level == len(LEVELS):
                return self._parse_unary()
            value = self._parse_bitwise(level + 1)
            while self._match_set(LEVELS[level], advance=False):
                if self._curr.token_type == self._next.token_type in (TokenType.LT, TokenType.GT):
                    raise Mistake("a shift is refused", "write shiftleft(x, n) or shiftright(x, n)")
                node = LEVELS[level][self._curr.token_type]
                self._advance()
                operand = self._parse_bitwise(level + 1)
                if value is None or operand is None:
                    self.raise_error("an operand is missing")
                value = self.expression(node(this=value, expression=operand))
                if node is exp.Div:
                    value.set("typed", self.dialect.TYPED_DIVISION)
                    value.set("safe", self.dialect.SAFE_DIVISION)
                elif node is exp.DPipe:
                    value.set("safe", not self.dialect.STRICT_STRING_CONCAT)
            return value

        def _parse_unary(self) -> Any:
            if self._match(TokenType.PLUS):
                raise Mistake("a sign + is refused", "leave it out")
            if self._match(TokenType.TILDE):
                return self.expression(exp.BitwiseNot(this=self._parse_unary()))
            if not self._match(TokenType.DASH):
                return self._parse_type()
            if self._curr.token_type == TokenType.NUMBER or (
                self._curr.token_type == TokenType.DOT and self._next.token_type == TokenType.NUMBER
            ):
                return self._parse_column_ops(self.expression(exp.Neg(this=self._parse_primary())))
            return self.expression(exp.Neg(this=_bracketed_number(self._parse_unary())))

        def _parse_is_rhs(self, distinct: bool = False) -> Any:
            return self._parse_bitwise() if distinct else self._parse_null() or self._parse_boolean()

        def _parse_between(self, this: exp.Expr | None) -> Any:
            low = self._parse_bitwise()
            if not self._match(TokenType.AND):
                self.raise_error("BETWEEN has no AND")
            return self.expression(exp.Between(this=this, low=low, high=self._parse_bitwise()))

        def _build_predicate(self, klass: Any, this: Any, expression: Any, **more: Any) -> Any:
            """Build a predicate without brackets: the printer knows where they are needed."""
            predicate = klass(this=this, expression=expression)
            if more.get("negate"):
                predicate.set("negate", True)
            return self.expression(predicate)

        def _parse_primary(self) -> Any:
            """Parse a literal or what is in brackets; texts side by side are one text."""
            primary = super()._parse_primary()
            if isinstance(primary, exp.Concat):
                return exp.Literal.string("".join(part.name for part in primary.expressions))
            return primary

    class Generator(Spark.Generator):  # type: ignore[misc, valid-type]
        """Prints what the parser above reads back as the same tree."""

        def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
            """Print an operator, not a predicate: it binds as the other comparisons do."""
            return str(self.binary(expression, "<=>"))


def _bracketed_number(tree: exp.Expr | None) -> exp.Expr | None:
    """Return a number in brackets, so that a minus before it stays an operator; anything else as it is."""
    return exp.Paren(this=tree) if isinstance(tree, exp.Literal) and not tree.is_string else tree


def add_brackets(tree: exp.Expr) -> None:
    """Put parts that bind looser than where they stand into brackets.

    >>> tree = exp.EQ(this=exp.column("a"), expression=exp.LT(this=exp.column("b"), expression=exp.column("c")))
    >>> add_brackets(tree)
    >>> tree.sql("spark")
    'a = (b < c)'
    """
    for node in list(tree.walk()):
        level = BINDING.get(type(node))
        if level is None:
            continue
        for part, value in list(node.args.items()):
            if isinstance(value, exp.Expr) and BINDING.get(type(value), UNARY) < _least_binding(level, part):
                node.set(part, exp.Paren(this=value))


def _least_binding(level: int, part: str) -> int:
    """Return how tight a part of a node must bind at least; of two operands, the right one tighter than the node."""
    if level == PREDICATE:
        return VALUE
    return level + 1 if part == "expression" else level


class Number(NamedTuple):
    """A number as it is written, with its sign."""

    digits: str
    negative: bool = False

    @property
    def text(self) -> str:
        """The number with its sign."""
        return f"-{self.digits}" if self.negative else self.digits

    @property
    def kind(self) -> str:
        """Spark's type of the number.

        >>> Number("2147483648").kind, Number("2147483648", negative=True).kind, Number("1.50").kind, Number("1e3").kind
        ('bigint', 'int', 'decimal(3,2)', 'double')
        """
        if "e" in self.digits.lower():
            return "double"
        whole, point, part = self.digits.partition(".")
        if point:
            digits = len(whole.lstrip("0")) + len(part)
            return f"decimal({max(digits, len(part), 1)},{len(part)})"
        value = int(self.text)
        if -(1 << 31) <= value < 1 << 31:
            return "int"
        return "bigint" if -(1 << 63) <= value < 1 << 63 else f"decimal({len(whole.lstrip('0'))},0)"


def number_of(tree: Any) -> Number | None:
    """Return the number that a tree is, or None: `-5` is one, `-(5)` and `-x` are operations.

    >>> from optimizer.catalog.sql.expressions import parse
    >>> number_of(parse("-5")), number_of(parse("-(5)"))
    (Number(digits='5', negative=True), None)
    """
    negative = isinstance(tree, exp.Neg)
    digits = tree.this if negative else tree
    if isinstance(digits, exp.Literal) and not digits.is_string:
        return Number(str(digits.name), negative)
    return None


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TYPES: frozenset[str] = frozenset(
    _words("BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL TEXT DATE TIMESTAMP TIMESTAMPTZ TIMESTAMPNTZ")
)
# name -> the numbers of arguments it takes; all of them deterministic and blind to anything but their arguments
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_words("abs ceiling exp expm1 ln log10 log1p log2 sign signum sqrt cbrt rint"), (1, 1)),
    **dict.fromkeys(_words("sin cos tan asin acos atan sinh cosh tanh degrees radians"), (1, 1)),
    **dict.fromkeys(_words("isnan isnull isnotnull bit_count"), (1, 1)),
    **dict.fromkeys(_words("lower upper lcase ucase length char_length trim ltrim rtrim"), (1, 1)),
    **dict.fromkeys(_words("year quarter month day dayofmonth dayofweek dayofyear hour minute second"), (1, 1)),
    **dict.fromkeys(_words("unix_seconds unix_millis unix_micros"), (1, 1)),
    **dict.fromkeys(_words("atan2 hypot pow power mod pmod nullif nvl ifnull nanvl"), (2, 2)),
    **dict.fromkeys(_words("startswith endswith contains left right shiftleft shiftright date_trunc"), (2, 2)),
    **dict.fromkeys(_words("ceil floor round bround log"), (1, 2)),
    **dict.fromkeys(_words("substring substr"), (2, 3)),
    **dict.fromkeys(_words("greatest least"), (2, 100)),
    **dict.fromkeys(_words("coalesce concat"), (1, 100)),
    "if": (3, 3),
}
# columns that Spark answers by itself when the events have none of that name
HIDDEN: frozenset[str] = frozenset(
    _words(
        "_metadata current_catalog current_database current_date current_schema current_time current_timestamp "
        "current_timezone current_user grouping__id input_file_name localtimestamp session_user"
    )
)
# what people write that is refused, in words
REFUSED: dict[str, str] = {
    "Subquery": "a subquery",
    "Select": "a subquery",
    "Exists": "a subquery (EXISTS)",
    "Window": "a window function (OVER)",
    "Lambda": "a lambda function",
    "Kwarg": "a named argument",
    "Placeholder": "a parameter",
    "Parameter": "a parameter",
    "RegexpLike": "RLIKE",
    "Distinct": "DISTINCT",
    "Star": "*",
    "Bracket": "[ ]",
    "Interval": "an interval",
    "Concat": "two adjacent string literals",
    "JSONExtract": "->",
    "IgnoreNulls": "IGNORE NULLS",
    "Tuple": "a list in parentheses",
    "Alias": "a name (AS)",
    "Filter": "FILTER",
}
