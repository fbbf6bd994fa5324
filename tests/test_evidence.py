"""`make evidence` writes a page of the same shape every time; its smallest part is run for real."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.evidence.figure import Figure, Reading, Size, load_claims
from benchmarks.evidence.page import PREAMBLE, points_table, write_sections
from benchmarks.evidence.parts import PARTS, Part, keep_part, kept_part, measure_part
from benchmarks.evidence.plots import draw_figure
from benchmarks.papers.kernels import Prepared

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def part() -> Part:
    return measure_part("factors", Size(small=True), lambda text: None)


def test_a_part_is_kept_and_read_back(part: Part, tmp_path: Path) -> None:
    assert kept_part("factors", tmp_path) is None
    keep_part(part, tmp_path)
    assert kept_part("factors", tmp_path) == part


def test_a_section_has_plot_claims_and_numbers(part: Part, tmp_path: Path) -> None:
    page = tmp_path / "evidence.md"
    write_sections(page, [part], load_claims())
    text = page.read_text()
    assert text.startswith(PREAMBLE)
    for figure in part.figures:
        assert f"### {figure.title}\n\n![{figure.title}](evidence/{figure.name}.svg)" in text
        assert (tmp_path / "evidence" / f"{figure.name}.svg").read_text().startswith("<?xml")
    row = re.search(
        r"5 tumbling windows of SequentialGen, with factor windows, at most \| 4.81 times \| (\S+) times", text
    )
    assert row
    assert float(row[1]) == pytest.approx(4.81, rel=0.5)  # the model's boost beside the paper's measured one


def test_a_section_replaces_itself_and_leaves_the_others(part: Part, tmp_path: Path) -> None:
    page = tmp_path / "evidence.md"
    other = Part("other", "Another part", [Figure("line", "A line", "x", "y", {"a": [(1, 2.0)]})], "a machine", "a day")
    write_sections(page, [part, other], load_claims())
    before = page.read_text()
    changed = Part(part.name, "A new title (ICDE 2022)", part.figures, part.machine, part.date)
    write_sections(page, [changed], load_claims())
    assert page.read_text() == before.replace(f"## {part.title}\n", "## A new title (ICDE 2022)\n")


def test_a_plot_shows_the_papers_number_and_names_groups_of_bars(tmp_path: Path) -> None:
    reading = Reading("rate_saving_50", 0.8, at=(1.0, 2.5))
    line = Figure("line", "A line", "x", "y", {"a": [(1, 2.0), (2, 3.0)]}, [reading])
    bars = Figure("bars", "Bars", "x", "y", {"a": [(0, 2.0), (1, 3.0)], "b": [(0, 1.0)]}, labels=["here", "there"])
    assert Figure.from_json(json.loads(json.dumps(line.to_json()))) == line
    assert "the paper's" in draw_figure(line, tmp_path).read_text()
    drawn = draw_figure(bars, tmp_path).read_text()
    assert all(f">{label}</text>" in drawn for label in bars.labels)
    assert points_table(bars)[2:4] == ["| here | 2 | 1 |", "| there | 3 |  |"]


def test_a_new_section_comes_in_the_order_of_the_parts(tmp_path: Path) -> None:
    page, first, *_, last = tmp_path / "evidence.md", *PARTS
    figures = [Figure("line", "A line", "x", "y", {"a": [(1, 2.0)]})]
    for name in (last, first):
        write_sections(page, [Part(name, f"Part {name}", figures, "a machine", "a day")], {})
    assert page.read_text().index(f"## Part {first}") < page.read_text().index(f"## Part {last}")


@pytest.mark.parametrize("ranges", [[5], [1, 2, 3, 4]])
def test_a_technique_is_measured_on_full_windows(ranges: list[int]) -> None:
    prepared = Prepared("max", ranges, 40)
    memory, out = prepared.full_memory("panes"), np.empty((prepared.answers, prepared.rows.shape[1]))
    fill = prepared.longest - 1
    prepared._advance("panes", memory, slice(fill, None), slice(fill, None), out)
    longest_first = sorted(ranges, reverse=True)
    windows = [
        prepared.values[end - length : end].max() for end in range(fill + 1, fill + 41) for length in longest_first
    ]
    assert out[:, 0].tolist() == windows
    assert prepared.rate("panes") > 0


def test_a_reading_without_a_claim_is_noticed(tmp_path: Path) -> None:
    figure = Figure("line", "A line", "x", "y", {"a": [(1, 2.0)]}, [Reading("nobody_says_so", 1.0)])
    with pytest.raises(KeyError, match="nobody_says_so"):
        write_sections(tmp_path / "page.md", [Part("other", "Another", [figure], "a machine", "a day")], load_claims())


def test_every_claim_belongs_to_a_part_or_a_benchmark() -> None:
    """A claim that no part names would never be held against ours."""
    scripts = "".join(path.read_text() for path in (ROOT / "benchmarks").rglob("*.py"))
    assert not [key for key in load_claims() if not _named(key, scripts)]


def _named(key: str, scripts: str) -> bool:
    """Say whether a script names the key, whole or by the f-string that makes it."""
    return f'"{key}"' in scripts or key.startswith(("single_", "multi_", "trades_", "randomgen_", "sequentialgen_"))


def test_every_part_has_a_module() -> None:
    for name, module in PARTS.items():
        assert (ROOT / (module.replace(".", "/") + ".py")).exists(), name


def test_the_summary_has_a_row_for_every_figure_of_a_paper(part: Part, tmp_path: Path) -> None:
    page = tmp_path / "evidence.md"
    write_sections(page, [part], load_claims())
    text = page.read_text()
    summary = text[: text.index("<!-- end of summary -->")]
    for figure in part.figures:
        rows = [line for line in summary.splitlines() if f"[{figure.title}](#" in line]
        assert len(rows) == 1
        holding = sum(load_claims()[reading.key].holds(reading.value) == "yes" for reading in figure.readings)
        assert rows[0].endswith(f"| {holding} of {len(figure.readings)} |")
    write_sections(page, [part], load_claims())
    assert page.read_text() == text


def test_a_ratio_is_left_out_where_it_says_nothing(tmp_path: Path) -> None:
    figure = Figure("line", "A line", "x", "y", {"a": [(1, 2.0)]}, [Reading("error_within_tolerance", -0.1)])
    write_sections(
        tmp_path / "page.md", [Part("plans", "A (CIKM 2011)", [figure], "a machine", "a day")], load_claims()
    )
    assert "| 1 times | -0.1 times | - | yes |" in (tmp_path / "page.md").read_text()


def test_a_part_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    figures = [Figure("line", "A line", "x", "y", {"a": [(1, 2.0)]})]
    for name in ("factors", "sharing"):
        keep_part(Part(name, f"Part {name}", figures, "a machine", "a day", "small"), tmp_path / "kept")
    command = [sys.executable, "-m", "benchmarks.evidence", "factors", "sharing", "--small", f"--kept={tmp_path}/kept"]
    done, failed = (
        subprocess.run([*command, f"--page={page}"], cwd=ROOT, capture_output=True, text=True, check=False)
        for page in (tmp_path / "page.md", tmp_path / "kept")
    )
    assert done.returncode == 0
    assert "sharing: done on a day" in done.stderr
    assert "## Part factors" in (tmp_path / "page.md").read_text()
    assert failed.returncode == 1
    assert "part factors FAILED" in failed.stderr
    assert failed.stderr.splitlines()[-1].startswith("not measured: factors, sharing; ")
