"""`heddle generate`: one line for every mistake, whole files only, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from heddle.main import app
from jobs.generate.draws import RANGES, Options
from jobs.generate.files import cut, write_parts
from optimizer.errors import HeddleError
from optimizer.workloads.workload import option_name


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["generate", *arguments])
    if result.exception:
        raise result.exception
    return result.output


@pytest.mark.parametrize("stream", ["sensors", "trades"])
def test_says_where_the_events_are(stream: str, tmp_path: Path) -> None:
    out = tmp_path / "a b"
    said = run(stream, "--events", "2500", "--out", str(out), "--file-events", "1000", "--seed", "3")
    assert said.startswith(f"2,500 {stream} events in 3 files in {out}. Next: ")
    assert [file.name for file in sorted(out.glob("*.*"))] == [f"part-00000{number}.parquet" for number in range(3)]
    with pytest.raises(HeddleError, match="holds events already"):
        run(stream, "--events", "1", "--out", str(out))


def test_says_where_the_workload_is(tmp_path: Path) -> None:
    said = run("workload", "factors", "--queries", "20", "--out", str(tmp_path), "--s-max", "60", "--rate", "5")
    assert said == f"20 queries in {tmp_path}/queries.yaml. Next: heddle plan {tmp_path} --stream sensors --rate 5\n"


@pytest.mark.parametrize("option", RANGES)
def test_every_option_has_its_range(option: str, tmp_path: Path) -> None:
    low, high = RANGES[option]
    for value in (low - 1, high * 2 + 1):
        whole = isinstance(getattr(Options(1), option), int)
        given = {"events": "1", option: str(int(value) if whole else value)}
        arguments = [text for name, value in given.items() for text in (option_name(name), value)]
        with pytest.raises(HeddleError, match=f"^{option_name(option)} .* is out of range; it goes from .*$"):
            run("sensors", "--out", str(tmp_path / "out"), *arguments)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [{"out_of_order": 0.6, "late": 0.6}, {"nulls": 0.5, "nan": 0.3, "infinities": 0.3}])
def test_shares_of_one_thing_add_up(options: dict[str, float]) -> None:
    with pytest.raises(HeddleError, match="together they are at most 1"):
        Options(1, **options)  # type: ignore[arg-type]


def test_nan_is_not_a_share() -> None:
    with pytest.raises(HeddleError, match="--nulls nan is out of range"):
        Options(1, nulls=float("nan"))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HeddleError, match="name a folder that can be written"):
        run("trades", "--events", "1", "--out", str(tmp_path / "file" / "x"))


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "_tables").write_text("")
    with pytest.raises(HeddleError, match=r"^--out .*; name a folder that can be written$"):
        run("trades", "--events", "1", "--out", str(tmp_path))


def test_a_broken_run_leaves_whole_files_only(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.Table]:
        yield pa.table({"x": range(25)})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parts(broken(), tmp_path, 10, lambda rows: None)
    assert [pq.read_table(file).num_rows for file in sorted(tmp_path.iterdir())] == [10, 10]


def test_cut() -> None:
    tables = [pa.table({"x": range(size)}) for size in (3, 0, 5, 1)]
    assert [(part, piece.num_rows) for part, piece in cut(tables, 4)] == [(0, 3), (0, 1), (1, 4), (2, 1)]


def test_replays_the_challenge_of_2012(tmp_path: Path) -> None:
    rows = [
        [
            f"2012-02-22T16:46:28.96{number}0320+00:00",
            2556001 + number,
            13056,
            14406,
            8119,
            71,
            193,
            150,
            0,
            0,
            0,
            0,
            0,
            1,
        ]
        for number in range(3)
    ]
    file = tmp_path / "events.txt"
    file.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    said = run("debs2012", str(file), "--out", str(tmp_path / "out"), "--file-events", "2")
    assert said.startswith(f"3 debs2012 events in 2 files in {tmp_path}/out. Next: ")
    events = pq.read_table(tmp_path / "out")
    assert events.num_rows == 3
    first = events.slice(0, 1).to_pylist()[0]
    assert first["ts"].isoformat() == "2012-02-22T16:46:28.960032+00:00"
    assert (first["index"], first["mf01"], first["pc15"], first["flag_01"], first["flag_02"]) == (
        2556001, 13056, 150, False, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2012-02-22T16:46:28\t1\t2\n", "3 columns; give the challenge's file"),
        ("a,b,c\n", "1 columns; give the challenge's file"),
        ("2012-02-22T16:46:28+02:00" + "\t1" * 11 + "\n", "is not in UTC"),
        ("2012-02-22T16:46:28" + "\tx" * 11 + "\n", "give the challenge's tab-separated file"),
        ("", "give the challenge's tab-separated file"),
    ],
)
def test_another_file_gets_one_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "events.txt").write_text(text)
    with pytest.raises(HeddleError, match=line) as caught:
        run("debs2012", str(tmp_path / "events.txt"), "--out", str(tmp_path / "out"))
    assert "\n" not in str(caught.value)
    assert not list((tmp_path / "out").glob("*"))


def test_a_missing_file_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(HeddleError, match="name a file that can be read"):
        run("debs2012", str(tmp_path / "none.txt"), "--out", str(tmp_path / "out"))
