"""The page itself: whole, escaped, loads nothing from elsewhere, usable without a mouse, and small at 500 queries."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import settings
from jobs.results import results_table
from optimizer.catalog.read.load import load_catalog
from optimizer.plan.definition import Plan
from optimizer.planning.stream import plan_stream
from optimizer.workloads import workload
from optimizer.workloads.workload import write_catalog
from plugins.heddle_page.page import Page, Running, metrics_text, read_page
from plugins.heddle_page.query import read_query
from plugins.heddle_page.read.batches import EPOCH
from plugins.heddle_page.show import show
from plugins.heddle_page.view.plan import plan_view
from plugins.heddle_page.view.queries import number_text, query_rows
from plugins.heddle_page.view.run import run_view
from tests.plugins.page_parser import PageParser
from tests.worlds.busy_platform import HOSTILE, KEY, BusyPlatform
from tests.worlds.warehouse import STREAM

ADDRESS = "http://mlflow.example:5000"


@pytest.fixture(scope="module")
def page(platform: BusyPlatform) -> Page:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEDDLE_MLFLOW_UI", ADDRESS)
        found = read_page(platform.settings)
    assert found
    return found


@pytest.fixture(scope="module")
def shown(page: Page) -> PageParser:
    return PageParser(show("overview.html", page=page))


def test_every_section_is_there_and_named(shown: PageParser) -> None:
    assert shown.all("section")[0]["id"] == "status"
    titles = [attributes["aria-labelledby"] for attributes in shown.all("section")[1:]]
    assert titles == [
        *("queries-title", "plan-title", "history-title", "measured-title", "audits-title", "late-title", "held"),
    ]
    assert set(titles) <= shown.ids


def test_links_inside_the_page_lead_somewhere(shown: PageParser) -> None:
    inside = {str(link["href"])[1:] for link in shown.all("a") if str(link["href"]).startswith("#")}
    assert inside <= shown.ids
    assert any(name.startswith("tree-") for name in inside)


def test_everything_else_is_relative_except_mlflow(shown: PageParser) -> None:
    addresses = [
        str(tag.get("href") or tag.get("src") or "") for name in ("a", "link", "script") for tag in shown.all(name)
    ]
    outside = [address for address in addresses if ":" in address]
    assert outside
    assert all(address.startswith(f"{ADDRESS}/#/experiments/") for address in outside)
    assert not any(address.startswith("/") for address in addresses)
    assert all("data-outside" in link for link in shown.all("a") if ":" in str(link["href"]))


def test_nothing_needs_an_inline_script_or_style(shown: PageParser) -> None:
    assert all("src" in script for script in shown.all("script"))
    assert shown.all("style") == []
    assert not any(name == "style" or name.startswith("on") for _, found in shown.tags for name in found)


def test_a_keyboard_and_a_reader_find_their_way(shown: PageParser) -> None:
    assert shown.all("html")[0]["lang"] == "en"
    assert shown.all("a")[0]["href"] == "#content"
    assert all("scope" in cell for cell in shown.all("th"))
    assert all("aria-labelledby" in drawing or "aria-label" in drawing for drawing in shown.all("svg"))
    scrolled = [found for _, found in shown.tags if found.get("class") == "scroll"]
    assert all(found["tabindex"] == "0" and found["aria-label"] for found in scrolled)
    assert [label["for"] for label in shown.all("label")] == ["find"]
    levels = [int(name[1]) for name, _ in shown.tags if re.fullmatch(r"h\d", name)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_boxes_of_the_picture_say_what_they_show(shown: PageParser, page: Page) -> None:
    assert page.plan
    labels = [str(link["aria-label"]) for link in shown.all("a") if "aria-label" in link]
    assert len(labels) == len(page.plan.trees)
    assert all("of the cost" in label for label in labels)


def test_an_alarm_leads_to_the_quarantine(shown: PageParser) -> None:
    assert "1 quarantined batch waits" in re.sub(r"\s+", " ", shown.text)
    assert "#held" in [link["href"] for link in shown.all("a")]


def test_what_people_wrote_is_escaped(page: Page) -> None:
    assert page.plan
    tree = page.plan.trees[0]
    line = replace(tree.queries[0], id=HOSTILE, asks=HOSTILE, where=HOSTILE)
    plan = replace(page.plan, strategy=HOSTILE, trees=[replace(tree, technique=HOSTILE, queries=[line])])
    late = replace(page.late, columns=[HOSTILE], rows=[[HOSTILE]])
    text = show("overview.html", page=replace(page, plan=plan, late=late, notes=[HOSTILE], streams=[HOSTILE]))
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;") >= 8


def test_a_hostile_run_id_is_escaped(platform: BusyPlatform) -> None:
    assert HOSTILE not in show("run.html", page=run_view(platform.settings, HOSTILE, HOSTILE))


def test_the_page_of_a_dag_run_links_to_its_plan(platform: BusyPlatform) -> None:
    shown = PageParser(show("run.html", page=run_view(platform.settings, "replan", KEY)))
    assert f"./?stream={STREAM}&version=3" in [link["href"] for link in shown.all("a")]


def test_an_empty_platform_is_a_whole_page(tmp_path: Path) -> None:
    found = read_page(settings({"HEDDLE_HOME": str(tmp_path)}))
    assert "no stream yet" in PageParser(show("overview.html", page=found)).text


@pytest.mark.parametrize("strategy", ["no_share", "cascade"])
def test_five_hundred_queries_stay_readable(tmp_path: Path, page: Page, strategy: str) -> None:
    write_catalog(workload("factors", 500), tmp_path / "catalog")
    catalog = load_catalog(tmp_path / "catalog")
    plan: Plan = plan_stream(catalog, "sensors", 100.0, strategy, "two_stacks_block")
    view = plan_view(plan, catalog)
    text = show("overview.html", page=replace(page, plan=view))
    shown = PageParser(text)
    assert len([box for box in shown.all("li") if str(box.get("class")).startswith("tree")]) <= 60
    assert len(shown.all("details")) >= len(plan.trees)
    assert len(text) < 2_000_000


def test_every_query_has_its_newest_answers_tree_cost_and_audit(page: Page, shown: PageParser) -> None:
    rows = {row.id: row for row in page.queries}
    assert [row["data-query"] for row in shown.all("tr") if "data-query" in row] == sorted(rows)
    assert rows["total"].sparks
    assert rows["total"].until
    assert sum(row.share for row in page.queries) == pytest.approx(1)
    assert {tree.id for tree in page.plan.trees} >= {rows["total"].tree} if page.plan else False


def test_a_query_without_rows_is_as_fresh_as_what_is_published(platform: BusyPlatform, page: Page) -> None:
    """Up to the batch that is in quarantine; its windows have ended, with rows or without any."""
    catalog = load_catalog(platform.settings.catalog)
    assert page.until < newest(stream_storage(platform.settings.warehouse, STREAM)).watermark
    table = catalog.of_stream(STREAM)
    pairs = zip(table.statements.to_pylist(), table.ids.to_pylist(), strict=True)
    windows = {statement: catalog.query(id).window for statement, id in pairs}
    in_time = {id: window for id, window in windows.items() if not window.rows}
    fresh = {row.id: row.until for row in query_rows(catalog, STREAM, None, None, {}, {}, page.until)}
    assert in_time
    for id, window in in_time.items():
        behind = page.until - ((fresh[id] or EPOCH) - EPOCH) // timedelta(microseconds=1)
        assert 0 <= behind < window.slide


def test_the_newest_answers_are_the_published_ones(platform: BusyPlatform, page: Page) -> None:
    opened = read_query(platform.settings, STREAM, "total")
    assert opened.chart
    assert opened.rows
    catalog = load_catalog(platform.settings.catalog)
    published = results_table(platform.settings.warehouse, catalog, "total").to_pylist()
    *_, value = opened.columns
    assert [row[-1] for row in opened.rows[:5]] == [str(row[value]) for row in reversed(published[-5:])]
    spark = next(row for row in page.queries if row.id == "total").sparks[0]
    own = [row for row in published if spark.key in map(str, row.values())] or published
    assert spark.newest == number_text(own[-1][value])
    text = show("query.html", page=opened)
    assert opened.sql in unescape(text)
    assert len(PageParser(text).all("polyline")) == len(opened.chart.lines)


def test_one_line_of_status_says_what_runs(page: Page) -> None:
    text = show("status.html", page=replace(page, running=[Running("evaluate", "r", page.at)]))
    said = re.sub(r"\s+", " ", PageParser(text).text)
    assert "evaluate for 0 seconds" in said
    assert "1 quarantined batch waits for a decision" in said
    assert "Fresh to" in said


def test_what_changed_with_the_plan_is_laid_side_by_side(page: Page, shown: PageParser) -> None:
    assert page.change
    assert (page.change.before.version, page.change.after.version) == (1, 3)
    assert page.change.moved
    assert "What changed with version 3" in shown.text


def test_prometheus_gets_a_line_per_figure(platform: BusyPlatform) -> None:
    lines = metrics_text(platform.settings).splitlines()
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert figures[f'heddle_quarantined_batches{{stream="{STREAM}"}}'] == "1"
    assert figures[f'heddle_audit_passed{{stream="{STREAM}"}}'] == "0"
    assert float(figures[f'heddle_late_events{{stream="{STREAM}"}}']) > 0
