"""HDFS as a file system of pyarrow, by hdfs-native, which speaks to name and data nodes itself, without Java.

pyarrow's own needs libhdfs, which only a Hadoop on the machine brings, and it cannot rename without replacing. Here an
operation that fails is tried again; a small file is written whole, again and again if need be.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import fs

from optimizer.errors import HeddleError

SCHEME = "hdfs://"
TRIES = 8  # of an operation, within half a minute, as of one of S3
FIRST_PAUSE = 0.2  # seconds; each pause is twice the one before
SMALL = 64 << 20  # bytes: a file up to this size is written whole when it is closed, by as many tries as it takes
# the client's own tries would multiply with those here; two let it change over to another name node
CLIENT = {"dfs.client.failover.max.attempts": "2", "dfs.client.failover.sleep.base.millis": "50"}
ANSWERS = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
T = TypeVar("T")


@lru_cache(maxsize=16)
def open_hdfs(authority: str) -> Any:
    """Return the file system of a name node, HOST:PORT, or of the name service that Hadoop's configuration knows."""
    return fs.PyFileSystem(Hdfs(authority))


class Hdfs(fs.FileSystemHandler):  # type: ignore[misc]
    """What pyarrow asks of a file system, and renaming without replacing."""

    def __init__(self, authority: str) -> None:
        try:
            from hdfs_native import Client
        except ImportError:
            raise HeddleError(f"{SCHEME}{authority}: hdfs-native is not installed; pip install hdfs-native") from None
        self.authority = authority
        try:
            self.client = Client(f"{SCHEME}{authority}/", CLIENT)
        except (RuntimeError, OSError) as error:
            raise HeddleError(f"{SCHEME}{authority}: is no HDFS that is known here ({_reason(error)})") from None

    def attempt(self, path: str, work: Callable[[], T], tries: int = TRIES) -> T:
        """Do some work on a path, again if it fails. What HDFS itself answers is final, and what is lost is not."""
        for number in range(tries):
            try:
                return work()
            except ANSWERS as answer:
                raise type(answer)(f"{SCHEME}{self.authority}{path}: {_reason(answer)}") from None
            except (OSError, RuntimeError) as error:
                if number == tries - 1:
                    raise OSError(f"{SCHEME}{self.authority}{path}: {_reason(error)}") from None
            time.sleep(FIRST_PAUSE * 2**number)
        raise AssertionError("a last try returns or raises")

    def put(self, path: str, content: bytes) -> None:
        """Write a file whole, in place of what an earlier try has left."""
        from hdfs_native import WriteOptions

        def write() -> None:
            with self.client.create(path, WriteOptions(overwrite=True)) as file:
                file.write(content)

        self.attempt(path, write)

    def rename_new(self, draft: str, path: str, content: bytes) -> bool:
        """Give a draft its name by one step, unless the name is taken. Where an answer is lost, the step is tried again
        and refused because of itself: it is done if the draft is gone, and what has the name is what the draft held. A
        draft that waited for a day may have been swept away by another run."""
        try:
            self.attempt(path, lambda: self.client.rename(draft, path, False))
        except (FileExistsError, FileNotFoundError):
            if self._kind(draft) == fs.FileType.File:
                self.delete_file(draft)
                return False
            if self._kind(path) != fs.FileType.File:
                raise
            with self.open_input_file(path) as there:
                return bool(there.read() == content)
        return True

    def _kind(self, path: str) -> Any:
        return self.get_file_info([path])[0].type

    def get_type_name(self) -> str:
        """Return the name of this kind of file system."""
        return "hdfs"

    def normalize_path(self, path: str) -> str:
        """Return a path as HDFS wants it."""
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[Any]:
        """Look for files, one after another."""
        return [self._look(path) for path in paths]

    def _look(self, path: str) -> Any:
        try:
            return _info(self.attempt(path, lambda: self.client.get_file_info(path)), path)
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        """List a folder."""
        base = selector.base_dir
        try:
            statuses = self.attempt(base, lambda: list(self.client.list_status(base, selector.recursive)))
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise
        if any(status.path.rstrip("/") == base.rstrip("/") for status in statuses):
            raise NotADirectoryError(f"{SCHEME}{self.authority}{base}: is no folder")
        return [_info(status, status.path) for status in statuses]

    def create_dir(self, path: str, recursive: bool) -> None:
        """Create a folder."""
        self.attempt(path, lambda: self.client.mkdirs(path, create_parent=recursive))

    def delete_dir(self, path: str) -> None:
        """Remove a folder and what is in it."""
        self.attempt(path, lambda: self.client.delete(path, True))

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        """Remove what is in a folder."""
        for info in self.get_file_info_selector(fs.FileSelector(path, allow_not_found=missing_dir_ok)):
            self.delete_dir(info.path)

    def delete_root_dir_contents(self) -> None:
        """Refuse to remove everything."""
        raise PermissionError(f"{SCHEME}{self.authority}/: is not emptied")

    def delete_file(self, path: str) -> None:
        """Remove a file; one that is gone may have been removed by a try whose answer was lost."""
        self.attempt(path, lambda: self.client.delete(path))

    def move(self, source: str, target: str) -> None:
        """Rename a file, in place of another one if need be."""
        try:
            self.attempt(source, lambda: self.client.rename(source, target, True))
        except FileNotFoundError:
            if self._kind(target) != fs.FileType.File:
                raise

    def copy_file(self, source: str, target: str) -> None:
        """Copy a file."""
        with self.open_input_stream(source) as there, self.open_output_stream(target, {}) as here:
            here.write(there.read())

    def open_input_stream(self, path: str) -> Any:
        """Open a file to be read from its start."""
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> Any:
        """Open a file to be read anywhere."""
        return pa.PythonFile(_Reader(self, path), mode="r")

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        """Open a file to be written, in place of another one if need be."""
        return pa.PythonFile(_Writer(self, path), mode="w")

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        """Refuse to write on: no file of a warehouse is written to twice."""
        raise NotImplementedError("files are written once")


class _Reader(io.RawIOBase):
    """A file that is read; what fails is read again from a new connection."""

    def __init__(self, hdfs: Hdfs, path: str) -> None:
        self.hdfs, self.path, self.place = hdfs, path, 0
        self.file = hdfs.attempt(path, lambda: hdfs.client.read(path))
        self.length = len(self.file)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.length}[whence]
        return self.place

    def tell(self) -> int:
        return self.place

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self.length - self.place)
        size = left if size is None or size < 0 else min(size, left)
        content = self.hdfs.attempt(self.path, lambda: self.file.read_range(self.place, size)) if size else b""
        self.place += len(content)
        return content


class _Writer(io.RawIOBase):
    """A file that is written: kept until it is closed while it is small, and then sent on as it comes."""

    def __init__(self, hdfs: Hdfs, path: str) -> None:
        self.hdfs, self.path, self.length = hdfs, path, 0
        self.pieces: list[bytes] = []
        self.file: Any = None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.length

    def write(self, piece: Any) -> int:
        self.pieces.append(bytes(piece))
        self.length += len(self.pieces[-1])
        if self.file is not None:
            self._send()
        elif self.length > SMALL:
            from hdfs_native import WriteOptions

            options = WriteOptions(overwrite=True)
            self.file = self.hdfs.attempt(self.path, lambda: self.hdfs.client.create(self.path, options))
            self._send()
        return len(piece)

    def _send(self) -> None:
        pieces, self.pieces = self.pieces, []
        for piece in pieces:
            self.hdfs.attempt(self.path, partial(self.file.write, piece), tries=1)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if self.file is None:
            self.hdfs.put(self.path, b"".join(self.pieces))
        else:
            self.hdfs.attempt(self.path, self.file.close, tries=1)


def _info(status: Any, path: str) -> Any:
    if status.isdir:
        return fs.FileInfo(path, fs.FileType.Directory, mtime_ns=status.modification_time * 1_000_000)
    return fs.FileInfo(path, fs.FileType.File, size=status.length, mtime_ns=status.modification_time * 1_000_000)


def _reason(error: Exception) -> str:
    """Return what the first line of an error says; the others are the server's stack."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
