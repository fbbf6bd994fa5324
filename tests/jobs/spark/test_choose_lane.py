"""The file lane where Arrow gives Spark's answers, else the frame lane; and when unshared queries are due."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from jobs.engine.program.program import Unshared
from jobs.engine.sources.contract import File
from jobs.engine.work import Work
from jobs.spark.choose_lane import choose_lanes
from jobs.spark.unshared import ends, first_start
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING, Window
from tests.worlds.streams import SECOND, odd_row
from tests.worlds.warehouse import make_world, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_the_lane_depends_on_the_expressions(spark: SparkSession, tmp_path: Path) -> None:
    plain = query("plain", "sum(i + 1)", SECOND)
    hard = query("hard", "sum(i)", SECOND, where="sin(i) > 0")  # the last digit of a sine is Java's, and decides
    cases = [([plain], "file", 1), ([plain, hard], "file and frame", 2), ([hard], "frame", 1)]
    for number, (entries, lane, values) in enumerate(cases):
        kinds = [pa.int32()] * values
        world = make_world(tmp_path / str(number), [[odd_row(0, 1)]], entries, 0)
        files = [File(str(file), file.stat().st_size) for file in world.files]
        plan = world.plan("shared")
        chosen = choose_lanes(spark, world.catalog, plan, files, "auto")
        assert chosen.name == lane
        assert (chosen.schema is None) == (lane == "file")
        assert [chosen.program.types[value.sql] for value in chosen.program.values] == kinds
        forced = choose_lanes(spark, world.catalog, plan, files, "frame")
        assert forced.name == "frame"
        assert set(forced.reasons.values()) == {"--lane frame"}
        assert {tree.digest for _, tree in forced.program.roots()} == {
            tree.digest for _, tree in chosen.program.roots()
        }
    with pytest.raises(HeddleError, match=r"the file lane cannot evaluate .*; use --lane frame or auto"):
        choose_lanes(spark, world.catalog, plan, files, "file")


@pytest.mark.parametrize(("emitted", "until"), [(10, 10), (10, 14), (10, 15), (12, 40), (-7, 3)])
def test_an_unshared_query_is_due_when_one_of_its_windows_ends(emitted: int, until: int) -> None:
    query = Unshared("q", "q@1", Window(range=10, slide=5, offset=2), "", ())
    work = Work("w", 0, emitted, until, 1)
    ending = [start for start in range(-98, 100, 5) if emitted < start + 10 <= until]
    assert ends(query, work) == bool(ending)
    assert first_start(query, work) == min(start for start in range(-98, 100, 5) if start + 10 > emitted)


def test_before_the_first_event_no_window_ends() -> None:
    query = Unshared("q", "q@1", Window(range=10, slide=5), "", ())
    assert not ends(query, Work("w", 0, BEGINNING, BEGINNING, 1))
    assert ends(query, Work("w", 0, BEGINNING, 100, 1))
