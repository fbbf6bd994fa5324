"""The record that an audit leaves beside its page, for whoever lists audits."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expectations.check import Outcome

PAGE = "index.html"
RECORD = "audit.json"


def write_record(outcome: Outcome) -> None:
    """Write what was found and decided, and when."""
    found = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **outcome.to_dict()}
    Path(outcome.page).with_name(RECORD).write_text(json.dumps(found, indent=1, default=str))
