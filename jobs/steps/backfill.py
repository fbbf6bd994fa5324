"""A scheduled backfill: what its job is called with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jobs.host.say import Say
from jobs.host.settings import settings
from jobs.plans.champion import champion_file
from jobs.steps.evaluate import submission
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError


def backfill_arguments(params: Mapping[str, Any], run: str, say: Say) -> dict[str, Any]:
    """Return what a backfill or a repair is called with; an interval goes into a warehouse named after the run."""
    place, stream = settings(), params["stream"]
    low, high, repair = params["from"], params["to"], params["repair"]
    if repair == bool(low or high) or bool(low) != bool(high):
        raise HeddleError("give both from and to, or repair alone")
    catalog = load_catalog(place.catalog)
    catalog.of_stream(stream)
    how = submission(catalog, stream, "backfill")
    arguments = [place.catalog, "--stream", stream, "--warehouse", place.warehouse]
    if repair:
        return {"backfill": [*arguments, "--repair"], **how}
    into = str(place.below("backfills", re.sub(r"[^\w.-]", "_", run)))
    plan = champion_file(place, catalog, stream, say).path
    say(f"{stream}: windows that end after {low} up to {high} go into {into}")
    return {"backfill": [*arguments, "--plan", plan, f"--from={low}", f"--to={high}", "--into", into], **how}
