"""A stream's warehouse: opened by one run at a time, and swept of what crashed runs left behind."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.engine import late_files, manifest, result_files, state
from jobs.engine.storage import Storage
from optimizer.errors import HeddleError

CHECKPOINT = "checkpoint"
DATA_FOLDERS = (result_files.FOLDER, state.FOLDER, late_files.FOLDER)
KEPT_MANIFESTS = 100  # older ones are history; the newest names everything


def stream_storage(warehouse: str, stream: str) -> Storage:
    """Where one stream's state, results and manifests are."""
    return Storage(f"{warehouse.rstrip('/')}/{stream}")


@contextmanager
def only_run(storage: Storage) -> Iterator[None]:
    """Hold the warehouse for one run. Elsewhere than on a local disk, the manifests alone keep runs apart."""
    if not storage.local:
        yield
        return
    try:
        storage.make_folder(".")
        handle = Path(storage.path("lock")).open("a+")  # noqa: SIM115 (closed below, when the run ends)
    except OSError as error:
        raise HeddleError(f"{storage.root}: cannot be written ({error.strerror}); choose another --warehouse") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise HeddleError(
                f"{storage.root}: another run (process {holder}) is evaluating this stream; wait until it ends"
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def sweep(storage: Storage, current: manifest.Manifest) -> int:
    """Delete data files that the newest manifest does not name, and manifests that are only history."""
    named = current.files()
    orphans = [name for folder in DATA_FOLDERS for name in storage.names(folder) if name not in named]
    old = sorted(name for name in storage.names(manifest.FOLDER) if name.endswith(".json"))[:-KEPT_MANIFESTS]
    drafts = [name for name in storage.names(manifest.FOLDER) if not name.endswith(".json")]
    for name in (*orphans, *old, *drafts):
        storage.delete(name)
    return len(orphans)
