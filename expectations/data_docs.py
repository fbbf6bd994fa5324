"""Data Docs that need no network: a page per audit with every check and the rows that failed it, and its record.

Airflow's page lists the records, so nothing here loads Great Expectations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

if TYPE_CHECKING:
    from expectations.check import Audit, Detail
    from expectations.suites.validate import Check

DOCS = "docs"
PAGE = "index.html"
RECORD = "audit.json"
REMEMBERED = 200  # audits whose records tell which statements were looked at
HEADINGS = {"ours": "Heddle", "spark": "plain Spark"}  # of columns that have another name in the data
LISTED = 10  # windows of a statement, and queries to Spark, that are written out
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
    """Return what the list of audits shows: the audit without its stream, when it was made, and of what."""
    detail = audit.detail
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "passed": audit.passed,
        "statements": audit.statements,
        "windows": audit.windows,
        "rows": audit.rows,
        "batch": detail.batch,
        "seed": detail.seed,
        "audited": sorted(detail.statements),
        "evaluated": detail.evaluated,
        "checks": [check.to_dict() for check in audit.checks],
    }


def coverage(storage: Storage) -> dict[str, int]:
    """Return the number of the newest audit that looked at each statement, by the records of the last audits."""
    last: dict[str, int] = {}
    for name in sorted(name for name in storage.names(DOCS) if name.endswith(f"/{RECORD}"))[-REMEMBERED:]:
        try:
            statements, sequence = json.loads(storage.read(name)).get("audited", []), int(name.split("/")[-2])
        except (OSError, ValueError):
            continue  # a record that was cut short tells nothing
        last |= dict.fromkeys(statements, sequence)
    return last


def page(audit: Audit) -> str:
    """Return the page of an audit as HTML."""
    verdict = "passed" if audit.passed else "failed"
    rows = "".join(_line(check) for check in audit.checks)
    failing = "".join(_failing(check) for check in audit.checks if not check.passed)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(audit.stream)}: audit {verdict}</title>'
        f'<style>{STYLE}</style></head><body><main><p><a href="../../?stream={escape(audit.stream)}">'
        f"Back to stream {escape(audit.stream)} in Airflow</a></p><h1>{escape(audit.stream)}: "
        f'audit <span class="{verdict}">{verdict}</span></h1>'
        f"<p>{audit.rows:,} rows of {audit.statements:,} statements, {audit.windows:,} windows, compared with what "
        f"plain Spark gives for the same SQL over the raw events.</p>{_facts(audit.detail)}"
        "<table><thead><tr><th>suite</th><th>check</th><th>expected</th><th>verdict</th><th>rows</th><th>failing</th>"
        f"</tr></thead><tbody>{rows}</tbody></table>{failing}{_looked_at(audit.detail)}</main></body></html>\n"
    )


def _facts(detail: Detail) -> str:
    """Return what was audited, when, and how it was chosen."""
    from jobs.runs.report import format_time

    if detail.batch < 0:
        return ""
    after = "" if detail.since <= BEGINNING else f" after {format_time(detail.since)} and"
    facts = (
        f"Batch {detail.batch}: windows that end{after} up to {format_time(detail.until)}; "
        f"{len(detail.statements):,} of {detail.evaluated:,} statements, those whose last audit is the longest ago, "
        f"and windows drawn with seed {detail.seed}. Audited on {datetime.now(UTC):%Y-%m-%d at %H:%M:%S} UTC."
    )
    return f"<p>{escape(facts)}</p>"


def _looked_at(detail: Detail) -> str:
    """Return which windows were recomputed, both answers of a few rows, and what Spark was asked."""
    windows = [
        {"statement": id, "windows": len(windows), "recomputed": "; ".join(windows[:LISTED]) + _more(windows)}
        for id, windows in detail.statements.items()
    ]
    statements_run = "".join(f"<pre>{escape(sql)}</pre>" for sql in detail.statements_run[:LISTED])
    return (
        (f"<h2>What was recomputed</h2>{_table(windows)}" if windows else "")
        + (f"<h2>Both answers, of a few rows</h2>{_table(detail.examples)}" if detail.examples else "")
        + (f"<h2>What Spark was asked</h2>{statements_run}" if statements_run else "")
    )


def _more(windows: list[str]) -> str:
    return f" and {len(windows) - LISTED} more" if len(windows) > LISTED else ""


def _line(check: Check) -> str:
    cells = (check.suite, check.name, check.expected, check.verdict)
    texts = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    style = check.verdict.replace(" ", "-")
    return f'<tr class="{style}">{texts}<td>{check.rows:,}</td><td>{check.failing:,}</td></tr>'


def _failing(check: Check) -> str:
    if not check.examples:
        return ""
    more = f" (the first {len(check.examples)} of {check.failing:,})" if check.failing > len(check.examples) else ""
    return f"<h2>{escape(check.name)}{more}</h2>{_table(check.examples)}"


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = "".join(f"<th>{escape(HEADINGS.get(name, name))}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(_cell(*cell) for cell in row.items())}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(name: str, value: Any) -> str:
    """Return a cell; a span of time has a line for each of its ends."""
    text = escape(str(value))
    if name == "window":
        return f'<td class="window">{text.replace(" to ", " to<br>", 1)}</td>'
    return f"<td>{escape(_key_text(value)) if name == 'key' else text}</td>"


def _key_text(key: Any) -> str:
    """Return a key, which the comparison has as JSON, as a person reads it; what is none stays as it is.

    >>> _key_text('{"machine": "m01", "line": null}'), _key_text("{}"), _key_text(None)
    ('machine m01, line null', 'none', 'None')
    """
    try:
        values = dict(json.loads(key))
    except (TypeError, ValueError):
        return str(key)
    return ", ".join(f"{name} {'null' if value is None else value}" for name, value in values.items()) or "none"
