"""The figures of README.md: three lines between two marks, from the part `peers`."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.evidence.figure import Figure
from benchmarks.evidence.page import show_number
from benchmarks.evidence.parts import Part

MARKED = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def write_figures(readme: Path, part: Part) -> None:
    """Replace the figures of the README by those of a part that compares engines."""
    text = readme.read_text(encoding="utf-8")
    lines = "\n".join(f"- {line}" for line in figure_lines(part.figures[0]))
    readme.write_text(MARKED.sub(lambda mark: f"{mark[1]}{lines}\n{mark[2]}", text), encoding="utf-8")


def figure_lines(figure: Figure) -> list[str]:
    """Return what the figure says of the most queries, in three sentences.

    >>> points = {"plain Spark": [(1, 2.0), (100, 200.0)], "DuckDB": [(1, 0.5), (100, 30.0)]}
    >>> points |= {"polars": [(1, 0.5), (100, 20.0)], "Heddle": [(1, 1.0), (100, 2.0)], "one scan": [(1, 1), (100, 1)]}
    >>> for line in figure_lines(Figure("peers", "Peers", "queries", "CPU seconds", points)):
    ...     print(line)
    Heddle answers 100 queries for 2 times the CPU of reading the events once.
    Query by query, plain Spark takes 100 times the CPU of Heddle, DuckDB 15 times, polars 10 times; each ran a few.
    For 100 queries instead of 1, Heddle needs 2 times the CPU, and plain Spark 100 times.
    """
    first = {name: line[0][1] for name, line in figure.points.items()}
    last = {name: line[-1][1] for name, line in figure.points.items()}
    (few, _), *_, (many, ours) = figure.points["Heddle"]

    def times(more: float, less: float) -> str:
        return f"{show_number(more / max(less, 0.001))} times"

    peers = [name for name in figure.points if name not in {"Heddle", "one scan"}]
    beside = [f"{name} {times(last[name], ours)}" for name in peers]
    beside[0] = f"{peers[0]} takes {times(last[peers[0]], ours)} the CPU of Heddle"
    return [
        f"Heddle answers {many:,.0f} queries for {times(ours, last['one scan'])} the CPU of reading the events once.",
        f"Query by query, {', '.join(beside)}; each ran a few.",
        f"For {many:,.0f} queries instead of {few:,.0f}, Heddle needs {times(ours, first['Heddle'])} the CPU, "
        f"and plain Spark {times(last['plain Spark'], first['plain Spark'])}.",
    ]
