"""The sections of docs/evidence.md: per figure a plot, its numbers, and what the paper reports beside ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.evidence.figure import Claim, Figure
from benchmarks.evidence.parts import PARTS, Part
from benchmarks.evidence.plots import draw_figure
from benchmarks.evidence.summary import CLAIMS_HEAD, summarize

PREAMBLE = """# Evidence

What the five papers report, and what peers take, beside what Heddle measures. `make evidence` writes this page: every
number below was printed by a script of [benchmarks](../benchmarks), and every part says when and on what it was
measured. `make evidence PART=plans` repeats one part; [papers.md](papers.md) maps the papers' ideas to the code.
"""


def write_sections(page: Path, parts: Sequence[Part], claims: Mapping[str, Claim]) -> None:
    """Replace the sections of these parts on the page, and leave the others as they are."""
    text = page.read_text() if page.exists() else PREAMBLE
    for part in parts:
        section = f"<!-- {part.name} -->\n{section_text(part, claims, page.parent)}<!-- end of {part.name} -->\n"
        mark = re.compile(rf"<!-- {part.name} -->.*?<!-- end of {part.name} -->\n", re.DOTALL)
        text = (
            mark.sub(lambda _, new=section: new, text) if mark.search(text) else add_section(text, part.name, section)
        )
    page.write_text(summarize(text))


def add_section(text: str, name: str, section: str) -> str:
    """Return a page with a new section before those of later parts, or at the end.

    >>> page = add_section("# Page\\n\\n<!-- weaving -->\\n", "plans", "<!-- plans -->\\n")
    >>> page.split()
    ['#', 'Page', '<!--', 'plans', '-->', '<!--', 'weaving', '-->']
    """
    order = list(PARTS)
    later = order[order.index(name) + 1 :] if name in order else []
    starts = [text.index(mark) for each in later if (mark := f"<!-- {each} -->\n") in text]
    at = min(starts, default=None)
    return f"{text}\n{section}" if at is None else f"{text[:at]}{section}\n{text[at:]}"


def section_text(part: Part, claims: Mapping[str, Claim], folder: Path) -> str:
    """Return a part as Markdown, its plots drawn below the folder."""
    lines = [f"## {part.title}", "", f"Measured {part.date}: {part.machine}.", ""]
    for figure in part.figures:
        path = draw_figure(figure, folder / "evidence")
        lines += [f"### {figure.title}", "", f"![{figure.title}]({path.relative_to(folder).as_posix()})", ""]
        lines += [figure.note, ""] if figure.note else []
        lines += [*claims_table(figure, claims), *points_table(figure)]
    return "\n".join(lines).rstrip() + "\n"


def claims_table(figure: Figure, claims: Mapping[str, Claim]) -> list[str]:
    """Return a row for every reading: what the paper says, its number, ours, and the ratio of both."""
    if not figure.readings:
        return []
    rows = [CLAIMS_HEAD, "|---|---|---:|---:|---:|---|---|"]
    for reading in figure.readings:
        claim = claims[reading.key]
        place = f"{claim.figure}, section {claim.section}"
        there, here = show_number(claim.value, claim.unit), show_number(reading.value, claim.unit)
        share = show_number(reading.value / claim.value) if min(claim.value, reading.value) > 0 else "-"
        rows.append(
            f"| {place} | {claim.says} | {there} | {here} | {share} | {claim.holds(reading.value)} | {reading.why} |"
        )
    return [*rows, ""]


def points_table(figure: Figure) -> list[str]:
    """Return the numbers of the plot: a row for every x, a column for every series."""
    xs = sorted({x for line in figure.points.values() for x, _ in line})
    rows = [f"| {figure.x} | " + " | ".join(figure.points) + " |", "|---:" * (len(figure.points) + 1) + "|"]
    for x in xs:
        values = [dict(line).get(x) for line in figure.points.values()]
        cells = ["" if value is None else show_number(value) for value in values]
        rows.append(f"| {figure.labels[int(x)] if figure.labels else show_number(x)} | " + " | ".join(cells) + " |")
    return [*rows, ""]


def show_number(value: float, unit: str = "") -> str:
    """Return a number with three digits, or whole where it is large.

    >>> show_number(0.12345), show_number(1234567.8), show_number(0.62, "%"), show_number(3.5, "times")
    ('0.123', '1,234,568', '62%', '3.5 times')
    """
    if unit == "%":
        return f"{value:.0%}"
    text = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"
    return f"{text} {unit}".rstrip()
