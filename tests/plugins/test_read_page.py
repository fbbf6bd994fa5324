"""The page's data, read from a platform that has run for a while, and from ones that have not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import manifest_name, newest
from jobs.host.settings import BACKFILLS, settings
from jobs.results import late_table
from plugins.heddle_page.page import MissingError, Page, read_page
from plugins.heddle_page.show import ENVIRONMENT
from plugins.heddle_page.view.run import run_view
from tests.worlds.busy_platform import KEY, BusyPlatform
from tests.worlds.warehouse import STREAM


@pytest.fixture(scope="module")
def page(platform: BusyPlatform) -> Page:
    found = read_page(platform.settings)
    assert found
    return found


def test_the_plan_in_force_is_the_champion(page: Page, platform: BusyPlatform) -> None:
    assert page.plan
    assert page.planned
    assert (page.stream, page.streams) == (STREAM, [STREAM])
    assert page.planned.champion
    assert page.plan.fingerprint == platform.champion
    assert {line.id for tree in page.plan.trees for line in tree.queries} >= {"total", "newest"}
    assert sum(tree.count for tree in page.plan.trees) == page.plan.queries
    assert sum(tree.share for tree in page.plan.trees) == pytest.approx(1)


def test_queries_are_shown_as_the_catalog_has_them(page: Page) -> None:
    assert page.plan
    lines = {line.id: line for tree in page.plan.trees for line in tree.queries}
    assert (lines["total"].asks, lines["total"].range, lines["total"].slide) == ("sum(n)", "6s", "2s")
    assert "3" in lines["newest"].where


def test_a_plan_of_another_kind_than_the_last_batch_is_announced(page: Page) -> None:
    assert any("next batch" in note for note in page.notes)


def test_history_has_every_version_the_newest_first(page: Page, platform: BusyPlatform) -> None:
    assert [each.number for each in page.history] == [4, 3, 2, 1]
    assert [each.champion for each in page.history] == [False, True, False, False]
    assert not page.history[0].promoted
    assert platform.rejected == 4


def test_an_older_version_can_be_looked_at(platform: BusyPlatform) -> None:
    found = read_page(platform.settings, STREAM, 1)
    assert found
    assert found.planned
    assert found.plan
    assert (found.planned.number, found.plan.strategy) == (1, "shared")
    with pytest.raises(MissingError, match="has no version 99 of its plan; there are 4, 3, 2, 1"):
        read_page(platform.settings, STREAM, 99)


def test_measurements_have_their_deviation(page: Page) -> None:
    assert len(page.measurements) == 2
    assert all(each.events for each in page.measurements)
    assert [each.deviation for each in page.measurements] == [pytest.approx(0.25), None]  # the first had no estimate


def test_backfills_are_listed_with_how_they_are_read(platform: BusyPlatform) -> None:
    place = platform.settings
    into = Path(place.home, BACKFILLS, "manual__7")
    shutil.copytree(place.warehouse, into)
    Path(into.parent, "manual__8", STREAM).mkdir(parents=True)  # it has not got to its first manifest
    page = read_page(place, STREAM)
    shutil.rmtree(into.parent)
    manifest = newest(stream_storage(place.warehouse, STREAM))
    (backfill,) = page.backfills
    assert (backfill.name, backfill.rows) == ("manual__7", sum(file.rows for file in manifest.results))
    shown = ENVIRONMENT.get_template("batches.html").render(page=page)
    assert f"heddle results CATALOG QUERY --warehouse {into}" in shown


def test_audits_are_listed_with_what_failed(page: Page) -> None:
    assert [each.passed for each in page.audits] == [False, True, True]
    assert page.audits[0].failed == ["answers are equal (1)"]


def test_only_the_quarantined_batches_are_held(page: Page, platform: BusyPlatform) -> None:
    manifest = newest(stream_storage(platform.settings.warehouse, STREAM))
    assert {each.state for each in page.unpublished} == {"quarantined"}
    assert sum(each.rows for each in page.unpublished) == sum(f.rows for f in manifest.results if f.batch == 2)


def test_late_events_are_counted_and_shown(page: Page, platform: BusyPlatform) -> None:
    assert page.late.events == late_table(platform.settings.warehouse, STREAM).num_rows > 0
    assert page.late.columns[:3] == ["batch", "windows_missed", "watermark"]
    assert len(page.late.rows) > 0


def test_progress_is_that_of_the_newest_manifest(page: Page) -> None:
    assert page.progress
    assert page.progress.batch == 2
    assert page.progress.audited
    assert page.progress.watermark
    assert [batch.batch for batch in page.batches] == [2, 1, 0]
    assert all(batch.events > 0 for batch in page.batches)


def test_a_dag_run_finds_what_it_left(platform: BusyPlatform) -> None:
    found = run_view(platform.settings, "replan", KEY)
    assert [(each.stream, each.kind, each.version) for each in found.runs] == [(STREAM, "replan", 3)]
    assert found.runs[0].reason
    assert run_view(platform.settings, "replan", "manual__2").runs == []
    assert run_view(platform.settings, "replan", "").runs == []


def test_an_unknown_stream_is_no_page(platform: BusyPlatform) -> None:
    with pytest.raises(MissingError, match=r"there is no stream '\.\./warehouse'"):
        read_page(platform.settings, "../warehouse")


def test_an_empty_home_is_a_page_and_stays_empty(tmp_path: Path) -> None:
    found = read_page(settings({"HEDDLE_HOME": str(tmp_path)}))
    assert found
    assert (found.streams, found.plan) == ([], None)
    assert len(found.notes) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_manifest_is_a_note_and_the_rest_is_shown(platform: BusyPlatform) -> None:
    storage = stream_storage(platform.settings.warehouse, STREAM)
    path = Path(storage.path(manifest_name(newest(storage).sequence)))
    kept = path.read_bytes()
    path.write_bytes(kept[:-9])
    try:
        found = read_page(platform.settings)
    finally:
        path.write_bytes(kept)
    assert found
    assert any("damaged" in note for note in found.notes)
    assert found.history


def test_a_server_that_is_gone_is_a_note(platform: BusyPlatform) -> None:
    home = {"HEDDLE_HOME": platform.settings.home, "HEDDLE_TRACKING": "http://127.0.0.1:9"}
    found = read_page(settings(home))
    assert found
    assert any("MLflow does not answer" in note for note in found.notes)
    assert found.plan  # of the warehouse
    assert found.audits
