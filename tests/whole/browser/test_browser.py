"""In a real browser, against a real Airflow: replan from its form, watch it succeed, see the new plan on the page.

The page is looked at in both themes, checked by axe-core, and used without a mouse.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from jobs.engine.warehouse.ledger import batches_of, newest_ledger
from jobs.engine.warehouse.lifecycle import stream_storage
from jobs.engine.warehouse.manifest import newest
from jobs.host.settings import settings
from tests.whole.browser.airflow_pages import choose, enter_frame, press, see, sign_in
from tests.whole.browser.axe import axe_script, violations
from tests.whole.browser.chromium import chromium
from tests.whole.browser.interface import ONE_MORE, Interface, interface
from tests.whole.production.api import Api
from tests.worlds.warehouse import STREAM


def test_from_the_form_to_the_page(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache
    pictures = pytestconfig.cache.mkdir("pictures")
    axe = axe_script(pytestconfig.cache.mkdir("axe"))
    home = tmp_path / "home"
    with chromium() as browser, interface(home) as ui:
        api = Api.sign_in(ui.airflow, ui.user, ui.password)
        sign_in(browser, ui.airflow, ui.user, ui.password)
        assert api.run_once("heddle_replan") == "success"
        (home / "catalog" / "more.yaml").write_text(ONE_MORE)
        run = replan(browser, ui, api)
        see_the_plan(browser, ui)
        for theme in ("light", "dark"):
            look(browser, ui, theme, pictures, axe)
        without_a_mouse(browser)
        see_what_the_run_left(browser, ui, run, pictures)
        let_another_team_start_on_an_hour(api)
        decide_what_is_quarantined(browser, ui, api, home)
        assert errors(browser) == []


def replan(browser: Chrome, ui: Interface, api: Api) -> str:
    """Fill in the form of the DAG and watch its run; the run's id."""
    last = api.newest_run("heddle_replan", "manual")
    browser.get(f"{ui.airflow}/dags/heddle_replan")
    press(browser, "//*[@data-testid='trigger-dag-button']")
    choose(browser, "element_stream", "sensors")
    see(browser, "//input[@name='element_rate']").send_keys("120")
    press(browser, "//*[@data-testid='trigger-dag-submit']")
    run = api.newest_run("heddle_replan", "manual", last)
    assert api.wait_for_run("heddle_replan", run) == "success"
    browser.get(f"{ui.airflow}/dags/heddle_replan/runs/{run}")
    see(browser, "//*[@data-testid='dag-run-state' or contains(@class, 'badge')][contains(., 'Success')]")
    return run


def see_the_plan(browser: Chrome, ui: Interface) -> None:
    """The page from the navigation; a tree opens, a query is found."""
    browser.get(ui.airflow)
    press(browser, "//a[contains(@href, 'plugin/heddle')] | //*[@data-testid='nav-sidebar']//*[.='Heddle']")
    enter_frame(browser, "Heddle")
    press(browser, "//nav//a[.='sensors']")
    see(browser, "//nav//a[@aria-current][.='sensors']")
    assert see(browser, "//h2[@id='plan-title']").text == "The plan in force"
    assert figure(browser, "queries") == "4"
    assert figure(browser, "events a second") == "120"
    assert figure(browser, "version").startswith("2")
    tree = see(browser, "//details[contains(@class,'tree')]")
    assert tree.get_attribute("open") is None
    press(browser, "//ul[@class='nest']//a")
    see(browser, "//details[@open]//tr")
    see(browser, "//input[@id='find']").send_keys("peak_10m")
    assert see(browser, "//*[@id='found']").text == "1 of 4 queries"
    assert "find=peak_10m" in browser.execute_script("return location.search")
    press(browser, "//th[@data-sort='share']/button")
    assert see(browser, "//th[@data-sort='share']").get_attribute("aria-sort") == "descending"
    press(browser, "//a[.='peak_10m']")
    assert "GROUP BY machine" in see(browser, "//pre").text


def look(browser: Chrome, ui: Interface, theme: str, pictures: Path, axe: str) -> None:
    """The page of a stream that has run for a while, in a theme: a picture of it, and nothing for a checker to find."""
    browser.get(f"{ui.airflow}/plugin/heddle")
    browser.execute_script(f"localStorage.setItem('theme', '{theme}')")
    browser.refresh()
    enter_frame(browser, "Heddle")
    see(browser, "//nav//a[@aria-current][.='events']")
    assert browser.execute_script("return getComputedStyle(document.documentElement).colorScheme") == theme
    assert browser.find_elements("css selector", "svg polyline")
    browser.save_screenshot(str(pictures / f"page-{theme}.png"))
    for tree in browser.find_elements("css selector", "details"):
        browser.execute_script("arguments[0].open = true", tree)
    assert violations(browser, axe) == []


def without_a_mouse(browser: Chrome) -> None:
    """The first stop leads past the header; a box of the picture opens its tree and takes the reader there."""
    browser.refresh()
    enter_frame(browser, "Heddle")
    see(browser, "//h2[@id='plan-title']")
    browser.execute_script("window.focus()")
    keys(browser, Keys.TAB)
    assert focused(browser, "textContent") == "Skip to the content"
    keys(browser, Keys.ENTER)
    assert focused(browser, "id") == "content"
    for _ in range(80):
        keys(browser, Keys.TAB)
        if "of the cost" in focused(browser, "ariaLabel"):
            break
    name = focused(browser, "ariaLabel").partition(";")[0]
    keys(browser, Keys.ENTER)
    assert focused(browser, "localName") == "summary"
    assert focused(browser, "textContent").split()[0] in name
    assert browser.execute_script("return document.activeElement.parentElement.open")


def keys(browser: Chrome, *pressed: str) -> None:
    """Press keys, wherever the focus is."""
    ActionChains(browser).send_keys(*pressed).perform()


def focused(browser: Chrome, attribute: str) -> str:
    """What the element that has the focus says."""
    return str(browser.execute_script(f"return document.activeElement.{attribute} || ''"))


def see_what_the_run_left(browser: Chrome, ui: Interface, run: str, pictures: Path) -> None:
    """The tab of the DAG's run leads to its plan, and names its MLflow run."""
    browser.get(f"{ui.airflow}/dags/heddle_replan/runs/{run}")
    press(browser, "//a[contains(@href, 'heddle-plan')]")
    enter_frame(browser, "Plan")
    link = see(browser, "//a[@data-outside]")
    assert str(link.get_attribute("href")).startswith(f"{ui.mlflow}/#/experiments/")
    browser.save_screenshot(str(pictures / "run.png"))
    press(browser, "//a[contains(@href, 'stream=sensors')]")
    see(browser, "//h2[@id='plan-title']")


def let_another_team_start_on_an_hour(api: Api) -> None:
    """The DAG of the guide runs with the hour as its partition key, as soon as `publish` has told of it."""
    api.wait_for_dag("use_hour")
    api.ask("PATCH", "/api/v2/dags/use_hour", {"is_paused": False})
    assert api.run_once("tell_hours") == "success"
    run = api.newest_run("use_hour", "asset_triggered")
    assert api.wait_for_run("use_hour", run) == "success"
    assert api.ask("GET", f"/api/v2/dags/use_hour/dagRuns/{quote(run)}")["partition_key"] == "2026-01-01T09:00:00"


def decide_what_is_quarantined(browser: Chrome, ui: Interface, api: Api, home: Path) -> None:
    """An event of the asset asks a person, with the failing rows; the answer publishes the batch."""
    storage = stream_storage(settings({"HEDDLE_HOME": str(home)}).warehouse, STREAM)
    assert batches_of(newest(storage), newest_ledger(storage).quarantined) == [2]
    api.ask("PATCH", "/api/v2/dags/heddle_quarantine", {"is_paused": False})
    (asset,) = api.ask("GET", "/api/v2/assets?name_pattern=heddle_quarantine")["assets"]
    outcome = {"stream": STREAM, "batches": [2], "failure": "the audit failed", "page": f"{ui.airflow}/heddle/audit"}
    event = {"asset_id": asset["id"], "extra": {**outcome, "failing": {"answers are equal": [{"k": "a|b", "ours": 1}]}}}
    api.ask("POST", "/api/v2/assets/events", event)
    run = api.newest_run("heddle_quarantine", "asset_triggered")
    task = f"/dags/heddle_quarantine/runs/{quote(run)}/tasks/decide.ask/mapped/0/required_actions"
    api.wait_for_question("heddle_quarantine")
    browser.get(f"{ui.airflow}{task}")
    see(browser, "//table//td[.='a|b']")
    press(browser, "//button[.='release']")
    assert api.wait_for_run("heddle_quarantine", run) == "success"
    assert batches_of(newest(storage), newest_ledger(storage).quarantined) == []


def figure(browser: Chrome, name: str) -> str:
    """One of the plan's figures."""
    return see(browser, f"//dt[.='{name}']/following-sibling::dd").text


def errors(browser: Chrome) -> list[str]:
    """What the page's own documents complained about: blocked by the policy, missing, broken."""
    said = [json.dumps(entry) for entry in browser.get_log("browser")]
    return [line for line in said if "/heddle" in line and "SEVERE" in line]
