"""The record that an audit leaves beside its page, for whoever lists audits."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expectations.report.audit import Audit

PAGE = "index.html"
RECORD = "audit.json"


def write_record(audit: Audit, folder: Path) -> None:
    """Write what was found, and when."""
    found = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "passed": audit.passed,
        "statements": audit.statements,
        "windows": audit.windows,
        "rows": audit.rows,
        "checks": [check.to_dict() for check in audit.checks],
    }
    (folder / RECORD).write_text(json.dumps(found, indent=1, default=str))
