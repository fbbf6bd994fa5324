"""What other DAGs can wait for: plans, drift, the results of every stream; and folders of events that are watched."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from airflow.sdk import Asset, AssetAlias, AssetWatcher
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

PLAN = Asset(name="heddle_plan", uri="heddle://plan")  # changes when a plan is promoted
DRIFT = Asset(name="heddle_drift", uri="heddle://drift")  # changes when a plan has drifted: replan at once
QUARANTINE = Asset(name="heddle_quarantine", uri="heddle://quarantine")  # changes when an audit has failed
RESULTS = AssetAlias("heddle_results")  # of the streams, which are known when a DAG runs; or QUARANTINE


def results_asset(stream: str) -> Asset:
    """Return what changes when results of a stream are published; a DAG of another team is scheduled on it."""
    return Asset(name=f"heddle_results_{stream}", uri=f"heddle://results/{stream}")


def hours_asset(stream: str) -> Asset:
    """Return what changes, with the hour as its partition key, when an hour of a stream's results is whole."""
    return Asset(name=f"heddle_hours_{stream}", uri=f"heddle://hours/{stream}")


def announce_hours(stream: str, hours: list[str], task: Any, outlet_events: Any) -> None:
    """Tell which hours of a stream are whole.

    An alias takes no partition keys, and streams are known only when a DAG runs: the asset of the stream becomes an
    outlet of the task while it runs.
    """
    asset = hours_asset(stream)
    task.outlets = [*task.outlets, asset]
    outlet_events[asset].extra = {"stream": stream}
    outlet_events[asset].add_partitions(hours)


def events_uri(stream: str) -> str:
    """Return the address of a stream's events, as its asset has it."""
    return f"heddle://events/{stream}"


def events_assets() -> list[Asset]:
    """Return the folders of events of all streams; with HEDDLE_WATCH, seconds, each is looked at so often."""
    from dags.forms import catalog_folders
    from jobs.host.settings import number_setting

    seconds, assets = number_setting("HEDDLE_WATCH", 0), []
    for stream, folder in catalog_folders().items():
        watcher = AssetWatcher(name=f"heddle_files_{stream}", trigger=FilesTrigger(folder, seconds))
        watchers = [watcher] if seconds else []
        assets.append(Asset(name=f"heddle_events_{stream}", uri=events_uri(stream), watchers=watchers))
    return assets


class FilesTrigger(BaseEventTrigger):
    """Looks at a folder every few seconds, and tells how many files are new.

    What is there when it starts is no event: the schedule by the clock takes it. Nor is a file that vanishes.
    """

    def __init__(self, folder: str, seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.folder, self.seconds = folder, seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return what the triggerer makes it from."""
        return "dags.assets.FilesTrigger", {"folder": self.folder, "seconds": self.seconds}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield an event whenever files have arrived."""
        before = await asyncio.to_thread(list_files, self.folder)
        while True:
            await asyncio.sleep(self.seconds)
            files = await asyncio.to_thread(list_files, self.folder)
            fresh, before = files - before, files
            if fresh:
                yield TriggerEvent({"folder": self.folder, "files": len(fresh)})  # type: ignore[no-untyped-call]


def list_files(folder: str) -> set[str]:
    """Return the files below a folder that are not hidden; none where there is no folder yet."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return {path for path in paths if not os.path.basename(path).startswith((".", "_"))}
