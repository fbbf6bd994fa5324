"""Input files: what is in the folder of a stream, whether a batch has consumed it or not."""

from __future__ import annotations

from collections.abc import Sequence

from pyarrow import fs

from jobs.host.storage import Storage
from optimizer.errors import HeddleError

File = tuple[str, int]  # path, size


def list_input_files(path: str) -> list[File]:
    """List the files of a stream, the oldest first; hidden ones are not data."""
    storage = Storage(path)
    root = storage.path("").rstrip("/")
    try:
        infos = storage.filesystem.get_file_info(fs.FileSelector(root, recursive=True))
    except OSError:
        raise HeddleError(f"{path}: there is no such folder; create it or mend `path` in the catalog") from None
    files = [info for info in infos if info.type == fs.FileType.File and not _is_hidden(info.path[len(root) :])]
    return [(info.path, info.size) for info in sorted(files, key=lambda info: (info.mtime_ns or 0, info.path))]


def with_sizes(paths: Sequence[str]) -> list[File]:
    """Return files with their sizes, without those that have vanished."""
    storages = {folder: Storage(folder) for folder in {path.rpartition("/")[0] for path in paths}}
    files = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        info = storages[folder].filesystem.get_file_info(storages[folder].path(name))
        if info.type == fs.FileType.File:
            files.append((path, int(info.size)))
    return files


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "_")) for part in name.split("/"))
