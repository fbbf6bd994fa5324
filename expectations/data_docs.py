"""Data Docs that need no network: a page per audit with every check and the rows that failed it, and its record.

Airflow's page lists the records, so nothing here loads Great Expectations.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimizer.errors import HeddleError

if TYPE_CHECKING:
    from expectations.check import Audit
    from expectations.suites.validate import Check

PAGE = "index.html"
RECORD = "audit.json"
STYLE = (Path(__file__).parent / "page.css").read_text()
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_docs(audit: Audit, folder: str) -> str:
    """Write the page of an audit and its record beside it; return the path of the page."""
    path = Path(folder) / PAGE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(audit))
        path.with_name(RECORD).write_text(json.dumps(record(audit), indent=1, default=str))
    except OSError as error:
        raise HeddleError(f"{path}: cannot be written ({error.strerror}); choose another --docs") from None
    return str(path)


def record(audit: Audit) -> dict[str, Any]:
    """Return what the list of audits shows: the audit without its stream, and when it was made."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "passed": audit.passed,
        "statements": audit.statements,
        "windows": audit.windows,
        "rows": audit.rows,
        "checks": [check.to_dict() for check in audit.checks],
    }


def page(audit: Audit) -> str:
    """Return the page of an audit as HTML."""
    verdict = "passed" if audit.passed else "failed"
    rows = "".join(_line(check, audit.sentences.get(check.name, "")) for check in audit.checks)
    failing = "".join(_failing(check) for check in audit.checks if not check.passed)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(audit.stream)}: audit {verdict}</title>'
        f"<style>{STYLE}</style></head><body><main><h1>{escape(audit.stream)}: "
        f'audit <span class="{verdict}">{verdict}</span></h1>'
        f"<p>{audit.rows:,} rows of {audit.statements:,} statements, {audit.windows:,} windows, compared with what "
        "plain Spark gives for the same SQL over the raw events.</p>"
        "<table><thead><tr><th>suite</th><th>check</th><th>expected</th><th>rows</th><th>failing</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{failing}</main></body></html>\n"
    )


def _line(check: Check, sentence: str) -> str:
    verdict = "passed" if check.passed else "failed"
    cells = (check.suite, check.name, sentence)
    texts = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr class="{verdict}">{texts}<td>{check.rows:,}</td><td>{check.failing:,}</td></tr>'


def _failing(check: Check) -> str:
    if not check.examples:
        return ""
    names = list(check.examples[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(row[name]) for name in names)}</tr>" for row in check.examples)
    more = f" (the first {len(check.examples)} of {check.failing:,})" if check.failing > len(check.examples) else ""
    return f"<h2>{escape(check.name)}{more}</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    return f"<td>{escape(str(value))}</td>"
