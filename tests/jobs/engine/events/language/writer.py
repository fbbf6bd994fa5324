"""Writes random expressions of the whole allowed language over columns of odd values."""

from __future__ import annotations

import math
import random
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

UTC = UTC
NUMBERS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "a": (pa.int8(), [-128, -4, 0, 3, 127]),
    "h": (pa.int16(), [-32768, -7, 0, 12, 32767]),
    "i": (pa.int32(), [-(1 << 31), -3, 0, 1, 2, 15, (1 << 31) - 1]),
    "j": (pa.int32(), [-2, 1, 5, 7, 100]),
    "n": (pa.int64(), [-(1 << 63), -9, 0, 5, 25, 1 << 40, (1 << 63) - 1]),
    "m": (pa.int64(), [-3, 1, 2, 4, 1000]),
    "x": (pa.float64(), [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -2.5, 0.1, 1e-300, 1e300, 2.675, 1e15 + 0.3]),
    "y": (pa.float64(), [math.nan, 0.5, 2.0, -0.0, 1e19, -7.25, 0.30000000000000004, 5e-324, 1234.5678]),
    "z": (pa.float64(), [0.25, 1.0, 3.0, 17.125, 99.5, 1e6]),
    "f": (pa.float32(), [math.nan, 0.1, 1.5, -2.0, 3.4e38, 16777217.0]),
    "g": (pa.float32(), [0.2, 2.5, -math.inf, 1e-45, 7.0]),
}
DECIMALS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "p": (pa.decimal128(10, 2), [Decimal(text) for text in ("0.00", "-1.25", "3.50", "99999999.99", "0.01")]),
    "q": (
        pa.decimal128(30, 6),
        [Decimal(text) for text in ("0.000000", "-2.500001", "123456789012345678901234.500000")],
    ),
}
OTHERS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "s": (pa.string(), ["", "a", "Abc", "é", "ab%c_", "straße", "\U0001f600x", " pad ", "12", "ΑΣ"]),
    "t": (pa.string(), ["a", "b", "-7", "1.5", "true", "2024-02-29", "İı", "\uffeez", "nan", "x\ny"]),
    "d": (pa.date32(), [date(1969, 12, 30), date(2024, 2, 29), date(1582, 10, 4), date(2023, 12, 31), date(1, 1, 1)]),
    "e": (
        pa.date32(),
        [date(1970, 1, 1), date(2024, 3, 1), date(9999, 12, 31), date(2018, 11, 4), date(2011, 12, 30)],
    ),
    "u": (
        pa.timestamp("us", "UTC"),
        [
            datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
            datetime(2024, 3, 31, 1, 30, tzinfo=UTC),
            datetime(2024, 2, 29, 12, 0, 0, 1, UTC),
            datetime(1900, 1, 1, 5, tzinfo=UTC),
            *(datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)),  # both half past two in Berlin
            *(datetime(2024, 4, 6, hour, minute, tzinfo=UTC) for hour, minute in ((14, 45), (15, 15))),  # Lord Howe
            datetime(2018, 11, 4, 3, 30, tzinfo=UTC),  # no midnight in Sao Paulo
            datetime(2500, 7, 1, 23, 15, tzinfo=UTC),
        ],
    ),
    "v": (
        pa.timestamp("us", "UTC"),
        [
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime(2024, 12, 30, 6, 7, 8, tzinfo=UTC),
            datetime(2011, 12, 30, 9, 59, 59, tzinfo=UTC),  # Apia leaves out a day
            datetime(2024, 11, 3, 6, 10, tzinfo=UTC),
        ],
    ),
    "l": (
        pa.timestamp("us"),
        [
            datetime(2024, 10, 27, 2, 30),
            datetime(1960, 6, 7, 8, 9, 10, 11),
            datetime(2024, 3, 31, 2, 30),
            datetime(2024, 4, 7, 1, 45),
            datetime(2018, 11, 4, 0, 0, 30),
            datetime(2024, 11, 3, 1, 20),
        ],
    ),
    "b": (pa.bool_(), [True, False]),
    "c": (pa.bool_(), [True, False]),
}
COLUMNS = {**NUMBERS, **DECIMALS, **OTHERS}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])


def _rules(text: str) -> list[str]:
    return text.split("; ")


WHOLE = _rules(
    "a; h; i; j; n; m; 0; 1; -1; 2; 7; 100; 2147483647; 3000000000; {W}+{W}; {W}-{W}; {W}*{W}; {W}%{W}; "
    "mod({W},{W}); pmod({W},{W}); ({W})DIV({W}); -({W}); abs({W}); {W}&{W}; {W}|{W}; {W}^{W}; ~({W}); "
    "shiftleft({W},3); shiftright({W},2); bit_count({W}); ceil({R}); floor({R}); ceil({W}); round({W},-1); "
    "bround({W},-2); cast({N}AS INT); cast({N}AS BIGINT); cast({W}AS SMALLINT); try_cast({N}AS INT); "
    "try_cast({N}AS TINYINT); try_cast({S}AS INT); try_cast({S}AS BIGINT); cast({B}AS INT); length({S}); "
    "char_length({S}); year({T}); quarter({T}); month({T}); day({T}); dayofmonth({T}); dayofweek({T}); "
    "dayofyear({T}); hour({I}); minute({I}); second({I}); unix_seconds({I}); unix_millis({I}); unix_micros({I}); "
    "cast({I}AS BIGINT); coalesce({W},{W}); if({B},{W},{W}); nullif({W},{W}); greatest({W},{W},{W}); "
    "least({W},{W}); nvl({W},{W}); ifnull({W},0); CASE WHEN {B} THEN {W} WHEN {B} THEN {W} ELSE {W} END; "
    "CASE {W} WHEN 1 THEN {W} END"
)
REAL = _rules(
    "x; y; z; z; f; g; 0.5D; 1e3; 2.5F; {N}/{N}; {R}+{N}; {R}-{N}; {R}*{N}; {R}%{N}; pmod({R},{N}); -({R}); "
    "abs({R}); ln({N}); log({N}); log({N},{N}); log10({N}); log1p({N}); log2({N}); exp({N}); expm1({N}); "
    "sqrt({N}); pow({N},{N}); power({N},2); pow({N},0.5); atan({N}); asin({N}); acos({N}); atan2({N},{N}); "
    "hypot({N},{N}); degrees({N}); radians({N}); rint({N}); sign({N}); signum({N}); round({R},2); round({R}); "
    "bround({R},1); round({R},-1); cast({N}AS DOUBLE); cast({W}AS FLOAT); cast({R}AS FLOAT); cast({I}AS DOUBLE); "
    "try_cast({S}AS DOUBLE); try_cast({S}AS FLOAT); coalesce({R},{N}); nanvl({R},{R}); if({B},{R},{N}); "
    "greatest({R},{N}); least({R},{R}); nullif({R},{N}); {N}*0.5D; {R}*1.5; {R}+0.1; cast({D}AS DOUBLE); "
    "CASE WHEN {B} THEN {R} ELSE {N} END"
)
DECIMAL = _rules(
    "p; q; 1.5; 0.01; 12.345; {D}+{D}; {D}-{D}; {D}*{D}; {D}/{D}; {D}%{D}; pmod({D},{D}); -({D}); abs({D}); "
    "{D}+{W}; {D}*2; {D}/3; cast({W}AS DECIMAL(12,2)); cast({D}AS DECIMAL(8,1)); coalesce({D},{D}); "
    "if({B},{D},{W}); greatest({D},{D}); try_cast({D}AS DECIMAL(4,1))"
)
TRUTH = _rules(
    "b; c; TRUE; FALSE; {N}={N}; {N}<>{N}; {N}<{N}; {N}<={N}; {N}>{N}; {N}>={N}; {N}<=>{N}; {S}={S}; {S}<{S}; "
    "{S}>={S}; {T}<{T}; {T}={T}; {I}>{T}; d>'2024-01-01'; {B}AND {B}; {B}OR {B}; NOT {B}; {B}={B}; {B}<=>{B}; "
    "{N}IS NULL; {S}IS NOT NULL; {B}IS TRUE; {B}IS NOT FALSE; {N}BETWEEN {N}AND {N}; {N}NOT BETWEEN {N}AND {N}; "
    "{N}IN({N},{N}); {S}IN('a',{S}); {W}NOT IN(1,NULL); {S} LIKE 'a%'; {S} LIKE '%b%'; {S} LIKE '_b_'; "
    r"{S} NOT LIKE '%x'; {S} ILIKE '%B%'; {S} LIKE 'ab\\%c\\_'; isnan({N}); isnull({S}); isnotnull({N}); "
    "startswith({S},'a'); endswith({S},'c'); contains({S},'b'); cast({N}AS BOOLEAN); try_cast({S}AS BOOLEAN); "
    "if({B},{B},{B}); coalesce({B},{B}); {D}>{D}; {D}={N}; {W}>1.5; {R}<0.1; {D}<={W}; {N}IS DISTINCT FROM {N}; "
    "{W}DIV 2=1; u<='2024-03-31 01:30:00'; {I}>'2024-03-31 02:30:00'; "
    "{I}<cast('2024-10-27 02:30:00.5'AS TIMESTAMP); {I}>'2018-11-04'"
)
TEXT = _rules(
    "s; t; s; t; 'a'; ''; 'Éß'; upper({S}); lower({S}); ucase({S}); lcase({S}); trim({S}); ltrim({S}); "
    "rtrim({S}); substring({S},2); substring({S},1,2); substr({S},-2,1); substring({S},-3,2); "
    "substring({S},0,1); left({S},2); right({S},1); concat({S},{S}); {S}||{S}; concat({S},{W}); "
    "cast({W}AS STRING); cast({B}AS STRING); cast({T}AS STRING); cast({D}AS STRING); coalesce({S},{S}); "
    "if({B},{S},{S}); nullif({S},{S}); greatest({S},{S}); least({S},{S}); CASE WHEN {B} THEN {S} ELSE {S} END"
)
INSTANT = _rules(
    "u; v; u; date_trunc('HOUR',{I}); date_trunc('month',{I}); date_trunc('WEEK',{I}); "
    "date_trunc('quarter',{I}); date_trunc('YEAR',{I}); date_trunc('day',{I}); date_trunc('MINUTE',{I}); "
    "date_trunc('millisecond',{I}); date_trunc('x',{I}); cast({E}AS TIMESTAMP); cast(l AS TIMESTAMP); "
    "date_trunc('second',{I}); coalesce({I},{I}); greatest({I},{E}); if({B},{I},{I}); "
    "cast(m AS TIMESTAMP); cast(z AS TIMESTAMP)"
)
DAYS = _rules(
    "d; e; d; cast({I}AS DATE); cast(l AS DATE); try_cast({S}AS DATE); coalesce({E},{E}); greatest({E},{E}); "
    "nullif({E},{E})"
)
TIME = ["{E}", "{I}", "l", "{E}", "{I}"]
NUMBER = ["{W}", "{R}", "{W}", "{R}", "{W}", "{R}", "{D}"]
RULES = {"W": WHOLE, "R": REAL, "D": DECIMAL, "B": TRUTH, "S": TEXT, "I": INSTANT, "E": DAYS, "T": TIME, "N": NUMBER}
LEAVES = {kind: [rule for rule in rules if "{" not in rule] or ["j", "z"] for kind, rules in RULES.items()}
LEAVES["T"], LEAVES["N"] = ["d", "u", "l"], ["i", "n", "x", "z", "f", "1.5"]
TOPS = "WWWRRRRBBBBSSIE"
CLOCKS = {
    kind: [rule for rule in rules if re.search(r"\{[ITE]\}|cast\(l|'2024", rule)]
    for kind, rules in RULES.items()
    if kind in "WBSIE"
}


class Writer:
    """Writes expressions, each kind of rule as often as any other."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def expression(self) -> str:
        """Return an expression of any type."""
        return self.write(self.pick.choice(TOPS), self.pick.choice([1, 1, 2, 2, 3]), outer=True)

    def clock_expression(self) -> str:
        """Return an expression that reads a clock, or sets one."""
        rule = self.pick.choice(CLOCKS[self.pick.choice("WBSIE")])
        return self._fill(rule, self.pick.choice([1, 2, 2]))

    def write(self, kind: str, depth: int, outer: bool = False) -> str:
        """Return an expression of a kind."""
        rules = RULES[kind] if depth else LEAVES[kind]
        if outer:  # a bare column says nothing
            rules = [rule for rule in rules if "{" in rule]
        rule = self.pick.choice(rules)
        if kind in "TN" and depth and rule != "l":
            return self.write(rule[1], depth)
        return self._fill(rule, depth)

    def _fill(self, rule: str, depth: int) -> str:
        parts = re.split(r"(\{\w\})", rule)
        text = "".join(
            f" ({self.write(part[1], depth - 1)}) " if re.fullmatch(r"\{\w\}", part) else part for part in parts
        )
        return text.strip()


def odd_rows(count: int, seed: int = 0) -> pa.Table:
    """Return rows of odd values, and nulls."""
    pick = random.Random(seed)
    rows = [
        {name: pick.choice(values) if pick.random() > 0.08 else None for name, (_, values) in COLUMNS.items()}
        for _ in range(count)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)
