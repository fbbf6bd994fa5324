"""Debian's chromium, without a window, for one test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.whole.debian import program

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1360,1500",
)


@contextmanager
def chromium() -> Iterator[Chrome]:
    """A browser that knows nothing yet."""
    browser = program("/usr/bin/chromium", "chromium")
    driver = program("/usr/bin/chromedriver", "chromium-driver")
    options = ChromeOptions()
    options.binary_location = browser
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        opened = Chrome(options, Service(driver))
        try:
            yield opened
        finally:
            opened.quit()
