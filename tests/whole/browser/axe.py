"""What axe-core, the checker of accessibility, finds wrong with a page; npm brings it."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path

from selenium.webdriver import Chrome

PACKAGE = "axe-core@4.14.0"
ASK = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(
  found => done(found.violations.map(v => `${v.id}: ${v.help}: ${v.nodes.map(node => node.target).join(" ")}`)),
  error => done([String(error)]));
"""


def axe_script(folder: Path) -> str:
    """The checker, or nothing and one line that says so."""
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists() and (npm := shutil.which("npm")):
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), PACKAGE]
        subprocess.run(command, capture_output=True, check=False, timeout=120)
    if not script.exists():
        warnings.warn(f"left out: npm could not install {PACKAGE}, which checks the page's accessibility", stacklevel=2)
        return ""
    return script.read_text(encoding="utf-8")


def violations(browser: Chrome, script: str) -> list[str]:
    """What is wrong with the document that the browser looks at."""
    if not script:
        return []
    browser.execute_script(script)
    found: list[str] = browser.execute_async_script(ASK)
    return found
