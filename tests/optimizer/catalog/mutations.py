"""Ways to spoil a catalog: cut, shuffle, retype, and put hostile SQL where a text was."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

BASE = """streams:
  vibration:
    source: {format: parquet, path: data/vibration}
    time: ts
    lateness: 5 seconds
  joined:
    source: {sql: "SELECT ts, x * 2 AS twice FROM vibration WHERE x > 0"}
    time: ts
queries:
  - {id: peak_x, stream: vibration, select: max(x), where: "label = 'good'", group_by: [machine], range: 1 minute, slide: 10 seconds}
  - id: mean_x
    sql: SELECT machine, window, avg(x) AS mean_x FROM vibration WHERE x > 1 GROUP BY machine, window(ts, '5 minutes', '30 seconds')
  - {id: rows, stream: joined, select: [sum(twice), "count(*) AS n"], range: 1000 rows, slide: 100 rows, offset: 5 rows}
"""  # noqa: E501 (long lines are what people write)

HOSTILE = (
    "reflect('java.lang.System', 'exit', 1)",
    "java_method('java.lang.Runtime', 'getRuntime')",
    "try_reflect('java.lang.System', 'getenv')",
    "input_file_name() = 'x'",
    "input_file_block_start()",
    "rand() > 0.5",
    "randn()",
    "uuid() = 'x'",
    "shuffle(x)",
    "current_timestamp() > ts",
    "current_timestamp > ts",
    "now()",
    "current_user()",
    "monotonically_increasing_id()",
    "spark_partition_id()",
    "x IN (SELECT x FROM secrets)",
    "(SELECT max(x) FROM secrets)",
    "EXISTS (SELECT 1)",
    "max(x) OVER (ORDER BY x)",
    "my_udf(x)",
    "x /* hidden */ > 1",
    "x > 1 -- hidden",
    "x > 1; DROP TABLE t",
    "1=1) UNION SELECT * FROM (secrets",
    "transform(a, x -> x + 1)",
    "${env:HOME}",
    "'${spark.secret}' = x",
    "raise_error('x')",
    "assert_true(false)",
    "java_method()",
    "sql_keywords()",
    "from_json(x, 'a INT')",
    "schema_of_csv('1')",
    "xpath(x, '/')",
    "read_files('/etc')",
    "_metadata.file_path",
    "version()",
    "SELECT * FROM vibration",
    "SELECT machine, max(x) FROM parquet.`/etc` GROUP BY machine, window(ts, '1 minute')",
    "SELECT max(x) FROM vibration JOIN b GROUP BY window(ts, '1 minute')",
    "WITH a AS (SELECT 1) SELECT max(x) FROM a GROUP BY window(ts, '1 minute')",
    "SELECT max(x) FROM vibration GROUP BY window(ts, '1 minute') HAVING max(x) > 1",
    "SELECT TRANSFORM(x) USING 'cat' FROM vibration",
    "DROP TABLE vibration",
    "SET spark.x=1",
    "ADD JAR '/tmp/x.jar'",
    "CREATE FUNCTION f AS 'x.Y'",
    "max(reflect('a', 'b'))",
    "max(x) FILTER (WHERE rand() > 1)",
    "count(DISTINCT uuid())",
    "ai_query('x', 'y')",
    "{{ x }}",
    "{% x %}",
    "x RLIKE '(a+)+$'",
    "a.b.c.d",
    "x::binary",
    "CAST(x AS INTERVAL)",
    "?",
    ":x",
    "@x",
    "`" * 5,
    "'" * 7,
    "\\",
    "\x00",
    "\u202e max(x)",
    "ｍａｘ(x)",
    "mаx(x)",
)
WRONG = (
    "",
    "null",
    "~",
    "[]",
    "{}",
    "[[]]",
    "{a: 1}",
    "5",
    "-1",
    "1.5",
    "true",
    "2020-01-01",
    "!!python/object:os.system x",
)
HUGE = (
    "9" * 400,
    "1e999",
    "-" + "9" * 40,
    "9" * 30 + " days",
    "0.0000000001 seconds",
    "1" * 5000 + " rows",
    "0 seconds",
)
UNICODE = ("\ufeff", "\u2028", "é", "\u0000", "\ud7ff", "😀", "\u200b", "\x85", "\t")


def truncate(text: str, chance: random.Random) -> str:
    """Cut the end off."""
    return text[: chance.randrange(len(text))]


def cut_out(text: str, chance: random.Random) -> str:
    """Cut a piece out."""
    start = chance.randrange(len(text))
    return text[:start] + text[start + chance.randrange(1, 40) :]


def insert(text: str, chance: random.Random) -> str:
    """Put odd characters in."""
    place = chance.randrange(len(text))
    odd = chance.choice([*UNICODE, "'", '"', "[", "{", "}", "*a", "&a ", "!!x ", ": ", "- ", "#", "%", "`", "\n"])
    return text[:place] + odd * chance.randrange(1, 4) + text[place:]


def swap_lines(text: str, chance: random.Random) -> str:
    """Change the order of two lines, or repeat one."""
    lines = text.splitlines(keepends=True)
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    if chance.random() < 0.5:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines.insert(first, lines[second])
    return "".join(lines)


def replace_value(text: str, chance: random.Random) -> str:
    """Another type, a hostile text or a huge number in the place of a value."""
    values = list(re.finditer(r"(?<=: )(?:\"[^\"\n]*\"|\[[^\]\n]*\]|[^,{}\[\]\n]+)", text))
    if not values:
        return text
    found = chance.choice(values)
    kind = chance.random()
    if kind < 0.6:
        new = _quoted(chance.choice(HOSTILE))
    else:
        new = chance.choice(WRONG) if kind < 0.8 else _quoted(chance.choice(HUGE))
    return text[: found.start()] + new + text[found.end() :]


def nest(text: str, chance: random.Random) -> str:
    """Bury a value under brackets."""
    depth = chance.choice((3, 30, 300, 3000))
    inner = chance.choice(
        (
            "[" * depth + "]" * depth,
            "{a: " * depth + "1" + "}" * depth,
            _quoted("(" * depth + "x" + ")" * depth),
            _quoted("abs(" * depth + "x" + ")" * depth),
            _quoted("NOT " * depth + "x"),
            _quoted("CASE WHEN " * depth + "x" + " THEN 1 END" * depth),
            _quoted(" + ".join("x" * depth)),
            _quoted("-" * depth + "x"),
        )
    )
    return re.sub(r"max\(x\)|x > 1|'good'", lambda _: inner, text, count=1)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\x00", "\\0") + '"'


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (
    truncate,
    cut_out,
    insert,
    swap_lines,
    replace_value,
    replace_value,
    replace_value,
    nest,
)


def mutate(seed: int) -> str:
    """A spoiled catalog; the same seed spoils it the same way."""
    chance = random.Random(seed)
    text = BASE
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice(MUTATIONS)(text, chance) or "x"
    return text
