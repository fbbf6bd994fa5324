"""Numbers as Spark reads them: a literal, or a literal with the minus that belongs to it."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlglot import exp


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
