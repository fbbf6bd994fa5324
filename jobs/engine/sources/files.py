"""Files (parquet, csv, json, orc): the one listing of what is in the folder of a stream, consumed or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pyarrow import fs

from jobs.host.storage import Storage
from optimizer.catalog.model.query import Stream
from optimizer.catalog.model.source_files import Found, reads_below, select_files
from optimizer.catalog.spark_types.parquet import folder_columns
from optimizer.errors import HeddleError


class File(NamedTuple):
    """A file as it was listed. One that has another size or time now is another file."""

    path: str
    size: int
    modified: int = 0  # nanoseconds since the epoch; 0 where nobody has written it down
    values: str = ""  # of columns that a table keeps beside the file: JSON, texts by name


def list_files(source: Stream) -> list[File]:
    """List the files of a stream, the oldest first: those that Spark's reader takes under the stream's options."""
    storage = Storage(source.path)
    root = storage.path("").rstrip("/")
    infos = _infos(storage, root, source)
    prefix = len(root) + 1
    by_name = {info.path[prefix:]: info for info in infos if info.type == fs.FileType.File}
    names = select_files(source, (Found(name, _microseconds(info)) for name, info in by_name.items()))
    files = [_file(by_name[name]) for name in names]
    return sorted(files, key=lambda file: (file.modified, file.path))


def _infos(storage: Storage, root: str, source: Stream) -> Sequence[Any]:
    try:
        return list(storage.filesystem.get_file_info(fs.FileSelector(root, recursive=True)))
    except OSError:
        hint = "; a pattern of names is an option, pathGlobFilter" if any(char in root for char in "*?[{") else ""
        raise HeddleError(
            f"{source.path}: there is no such folder; create it or mend `path` in the catalog{hint}"
        ) from None


def current_files(paths: Iterable[str]) -> list[File]:
    """Return files as they are now, without those that have vanished."""
    files = []
    for folder, members in _by_folder(paths).items():
        storage = Storage(folder)
        infos = storage.filesystem.get_file_info([storage.path(path.rpartition("/")[2]) for path in members])
        files += [_file(info, path) for path, info in zip(members, infos, strict=True) if info.type == fs.FileType.File]
    return files


def data_files(source: Stream, files: Sequence[File]) -> list[File]:
    """Return those of some files that are data of a stream; where Spark has listed them, not all are."""
    prefix = len(Storage(source.path).path("").rstrip("/")) + 1
    names = {file.path[prefix:]: file for file in files}
    candidates = (Found(name, file.modified // 1_000_000 * 1000) for name, file in names.items())
    return [names[name] for name in select_files(source, candidates)]


def folder_types(source: Stream, files: Iterable[File]) -> dict[str, str]:
    """Return the columns that the folders of a stream's files name, and the types that Spark infers of them."""
    if reads_below(source):
        return {}
    prefix = len(Storage(source.path).path("").rstrip("/")) + 1
    return folder_columns(file.path[prefix:] for file in files)


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return folders


def _file(info: Any, path: str = "") -> File:
    return File(path or info.path, int(info.size), int(info.mtime_ns or 0))


def _microseconds(info: Any) -> int:
    """Return when a file was written; Spark knows it by the millisecond."""
    return int(info.mtime_ns or 0) // 1_000_000 * 1000
