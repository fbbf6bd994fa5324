"""Catalogs at random: the strategies and helpers that the catalog's tests share."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from optimizer.algebra.aggregates import AGGREGATES
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.catalog.write import dump

STREAMS = """
streams:
  vibration: {source: {format: parquet, path: data/vibration}, time: ts, lateness: 5 seconds}
  trades: {source: {format: csv, path: data/trades, options: {header: true}}, time: "`event time`"}
  joined: {source: {sql: "SELECT v.ts, v.x, c.close FROM vibration v JOIN closes c ON v.machine = c.machine"}, time: ts}
tables:
  closes: {source: {path: data/closes}}
"""

COLUMNS = ("x", "y", "`odd name`", "machine", "label", "date", "end", "Größe".replace("ö", "o"))
UNITS = ("microseconds", "milliseconds", "seconds", "minutes", "hours", "days")

ids = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True).filter(lambda text: text not in COLUMNS)
columns = st.sampled_from(COLUMNS[:5])


def _combined(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(children, st.sampled_from(("+", "-", "*", "/", "%")), children)
    return st.one_of(
        binary.map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        children.map(lambda inner: f"abs({inner})"),
        children.map(lambda inner: f"-({inner})"),
        children.map(lambda inner: f"coalesce({inner}, 0)"),
        children.map(lambda inner: f"CAST({inner} AS DOUBLE)"),
        st.tuples(children, children).map(lambda two: f"CASE WHEN {two[0]} > 0 THEN {two[1]} END"),
    )


expressions = st.recursive(st.one_of(columns, st.integers(0, 10**12).map(str)), _combined, max_leaves=5)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=8).filter(
    lambda text: "${" not in text
)
literals = texts.map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'")
comparisons = st.tuples(expressions, st.sampled_from(("=", "<>", "<", ">=", "<=>")), st.one_of(expressions, literals))
conditions = st.recursive(
    comparisons.map(" ".join),
    lambda inner: st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(
        lambda parts: f"({parts[0]}) {parts[1]} NOT ({parts[2]})"
    ),
    max_leaves=3,
)


@st.composite
def aggregates(draw: st.DrawFn) -> str:
    """One aggregate, with or without a name."""
    aggregate = AGGREGATES[draw(st.sampled_from(sorted(AGGREGATES)))]
    name = draw(st.sampled_from((aggregate.name, *aggregate.aliases)))
    arguments = [draw(expressions)]
    if aggregate.name.startswith("percentile"):
        arguments.append(draw(st.sampled_from(("0.5", "0.99"))))
        arguments += ["2"] * (aggregate.arguments - 2)
    else:
        arguments += [draw(expressions) for _ in range(aggregate.arguments - 1)]
    return f"{name}({', '.join(arguments)})"


@st.composite
def lengths(draw: st.DrawFn) -> dict[str, str]:
    """Range, slide and offset."""
    unit = draw(st.sampled_from(UNITS))
    slide = draw(st.integers(1, 1000))
    window = {"range": f"{draw(st.integers(slide, 20 * slide))} {unit}", "slide": f"{slide} {unit}"}
    if draw(st.booleans()):
        window["offset"] = f"{draw(st.integers(1 - slide, slide - 1))} {unit}"
    return window


@st.composite
def entries(draw: st.DrawFn) -> dict[str, object]:
    """One query in fields, all its columns named."""
    count = draw(st.integers(1, 3))
    selects = [f"{draw(aggregates())} AS {name}" for name in ("a", "`b b`", "c")[:count]]
    entry: dict[str, object] = {
        "id": draw(ids),
        "stream": draw(st.sampled_from(("vibration", "trades", "joined"))),
        "select": selects if count > 1 else selects[0],
        "group_by": draw(st.lists(columns, unique=True, max_size=2)),
        **draw(lengths()),
    }
    if draw(st.booleans()):
        entry["where"] = draw(conditions)
    return entry


def as_sql(entry: dict[str, object]) -> str:
    """The SQL form of an entry in fields."""
    keys = list(entry["group_by"])  # type: ignore[call-overload]
    selects = entry["select"] if isinstance(entry["select"], list) else [entry["select"]]
    time = "`event time`" if entry["stream"] == "trades" else "ts"
    sizes = [f"'{entry[field]}'" for field in ("range", "slide", "offset") if field in entry]
    where = f" WHERE {entry['where']}" if "where" in entry else ""
    group = ", ".join([*keys, f"window({', '.join([time, *sizes])})"])
    return f"SELECT {', '.join([*keys, 'window', *selects])} FROM {entry['stream']}{where} GROUP BY {group}"


def write(folder: Path, files: dict[str, str]) -> Path:
    """A catalog folder with nothing but these files."""
    catalog = folder / "catalog"
    catalog.mkdir(exist_ok=True)
    for old in catalog.iterdir():
        old.unlink()
    for name, text in files.items():
        (catalog / name).write_text(text, encoding="utf-8")
    return catalog


def load(folder: Path, queries: list[dict[str, object]]) -> Catalog:
    """A catalog of the usual streams and these entries."""
    return load_catalog(write(folder, {"streams.yaml": STREAMS, "queries.yaml": dump({"queries": queries})}))
