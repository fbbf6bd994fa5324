"""Small files and folders of a warehouse: on a local disk, on HDFS, on S3.

Creating a file unless it is there is one atomic step on each: a link, a rename that replaces nothing, a put with
If-None-Match. pyarrow has no such put: obstore makes it, with the same credentials and the same endpoint."""

from __future__ import annotations

import fcntl
import math
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pyarrow import fs

from jobs.host import hdfs
from jobs.host.stops import step
from optimizer.errors import HeddleError

SCHEME = "s3a://"  # of S3, as Spark and catalogs call it
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
TRIES = 8  # of an operation of a store: one that fails 5% of them fails all eight once in 25,000,000,000 times
ATTEMPT = "heddle-attempt"  # names who has created an object, where the answer to a put was lost


def in_a_line(error: HeddleError | OSError) -> str:
    """Return what the user reads of an error while files are written or read."""
    if isinstance(error, HeddleError):
        return str(error)
    reason = str(error).splitlines()[0]
    return f"{reason}; free some space or mend the disk, then run again: nothing was published halfway"


@dataclass(frozen=True)
class Storage:
    """A folder and what is below it; names are relative, with forward slashes."""

    root: str

    @cached_property
    def _place(self) -> tuple[Any, str]:
        if self.on_s3:
            bucket, _, path = self.root.removeprefix(SCHEME).partition("/")
            return _s3_of(bucket), f"{bucket}/{path}".rstrip("/")
        if self.on_hdfs:
            authority, _, path = self.root.removeprefix(hdfs.SCHEME).partition("/")
            return hdfs.open_hdfs(authority), f"/{path}".rstrip("/")
        if self.root.startswith("file://"):
            system, path = fs.FileSystem.from_uri(self.root)
            return system, path
        if "://" in self.root:
            raise HeddleError(f"{self.root}: no such store is known; use a path, {hdfs.SCHEME} or {SCHEME}")
        return fs.LocalFileSystem(), str(Path(self.root).absolute())

    @property
    def filesystem(self) -> Any:
        """The pyarrow file system."""
        return self._place[0]

    @property
    def local(self) -> bool:
        """Whether the folder is on this machine."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    @property
    def on_s3(self) -> bool:
        """Whether the folder is in a bucket."""
        return self.root.startswith(SCHEME)

    @property
    def on_hdfs(self) -> bool:
        """Whether the folder is on HDFS."""
        return self.root.startswith(hdfs.SCHEME)

    def path(self, name: str) -> str:
        """Return the path of a name, as the file system wants it."""
        return f"{self._place[1]}/{name}"

    def uri(self, name: str) -> str:
        """Return the path of a name, as Spark wants it, and as records of files have it."""
        return self.path(name) if self.local else f"{self.root.rstrip('/')}/{name}"

    def below(self, name: str) -> Storage:
        """Return the storage of a folder inside this one."""
        return Storage(f"{self.root.rstrip('/')}/{name}")

    def read(self, name: str) -> bytes:
        """Read a small file."""
        with self.filesystem.open_input_stream(self.path(name)) as stream:
            return bytes(stream.read())

    def exists(self, name: str) -> bool:
        """Say whether a file of this name is there."""
        return bool(self.filesystem.get_file_info(self.path(name)).type == fs.FileType.File)

    def make_folder(self, name: str) -> None:
        """Create a folder, and those above it, if need be; S3 has none."""
        if not self.on_s3:
            self.filesystem.create_dir(self.path(name), recursive=True)

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that is below it, if it is there; S3 has none."""
        if not self.on_s3:
            with suppress(FileNotFoundError):
                self.filesystem.delete_dir(self.path(name))

    def names(self, folder: str, before: float = math.inf) -> Iterator[str]:
        """List the files below a folder, by name, if need be those written before a time (seconds since the epoch);
        drafts of files are none."""
        return (name for name in self._all(folder, before) if not name.rpartition("/")[2].startswith("."))

    def drafts(self, folder: str, before: float = math.inf) -> Iterator[str]:
        """List what processes that died were about to create."""
        return (name for name in self._all(folder, before) if name.rpartition("/")[2].startswith("."))

    def _all(self, folder: str, before: float) -> Iterator[str]:
        infos = self.filesystem.get_file_info(fs.FileSelector(self.path(folder), recursive=True, allow_not_found=True))
        prefix = len(self.path(""))
        files = (info for info in infos if info.type == fs.FileType.File)
        return (info.path[prefix:] for info in files if before == math.inf or info.mtime_ns < before * 1e9)

    def delete(self, name: str) -> None:
        """Remove a file; elsewhere than on a disk, another run may have removed it meanwhile, or a try whose answer was
        lost."""
        with suppress(FileNotFoundError):
            self.filesystem.delete_file(self.path(name))

    def create(self, name: str, content: bytes, durable: bool = True) -> bool:
        """Write a file by one step, unless it is there already: then False, and nothing is touched.

        The step is atomic against other runs, too; a disk keeps what is durable, even if the machine goes down."""
        if self.on_s3:
            return self._put(name, content)
        if self.on_hdfs:
            return self._rename_new(name, content)
        path, draft = self.path(name), self.path(_draft_of(name))
        try:
            _write_new(draft, content, durable)
            step("drafted")
            os.link(draft, path)  # unlike rename, link never replaces what another run has put there
        except FileExistsError:
            return False
        except OSError as error:
            raise HeddleError(
                f"{path}: cannot be written ({error.strerror}); free some space or mend the folder"
            ) from None
        finally:
            with suppress(OSError):  # of a folder that cannot be written, where there is no draft
                os.unlink(draft)
        return True

    def _put(self, name: str, content: bytes) -> bool:
        """Create an object by a conditional put. Where the answer is lost, the put is repeated, and then refused
        because of itself: the object says whose it is."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError

        bucket, _, key = self.path(name).partition("/")
        store, attempt = _object_store(bucket), uuid.uuid4().hex
        step("drafted")
        try:
            try:
                obstore.put(store, key, content, mode="create", attributes={ATTEMPT: attempt})
            except AlreadyExistsError:
                return bool(obstore.get(store, key).attributes.get(ATTEMPT) == attempt)
        except FileNotFoundError:  # S3 refuses one of two puts at once, be the other one done or not yet
            return False
        except BaseError as error:
            reason = str(error).splitlines()[0][:200]
            raise HeddleError(f"{self.uri(name)}: cannot be written ({reason}); run again when it can be") from None
        return True

    def _rename_new(self, name: str, content: bytes) -> bool:
        """Create a file on HDFS by a draft and a rename."""
        draft, handler = self.path(_draft_of(name)), self.filesystem.handler
        try:
            handler.put(draft, content)
            step("drafted")
            return bool(handler.rename_new(draft, self.path(name), content))
        except OSError as error:
            raise HeddleError(f"{self.uri(name)}: cannot be written ({error}); run again when it can be") from None


@lru_cache(maxsize=16)
def _s3_of(bucket: str) -> Any:
    """Return S3 as a bucket is reached, by the environment's endpoint and credentials, with more tries than usual."""
    plain, _ = fs.FileSystem.from_uri(f"s3://{bucket}")
    scheme, _, place = bucket_endpoint().rpartition("://")
    return fs.S3FileSystem(
        region=plain.region,
        endpoint_override=place or None,
        scheme=scheme or None,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
        allow_delayed_open=True,  # a small file is one put
    )


def bucket_endpoint() -> str:
    """Return the address of another S3 than Amazon's, where the environment names one."""
    return next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), "")


@lru_cache(maxsize=16)
def _object_store(bucket: str) -> Any:
    from obstore.store import S3Store

    endpoint = bucket_endpoint()
    place: dict[str, Any] = {"endpoint": endpoint} if endpoint else {}
    return S3Store(
        bucket,
        **place,
        region=_s3_of(bucket).region,
        client_options={"allow_http": endpoint.startswith("http://")},
        retry_config={"max_retries": TRIES},
    )


@contextmanager
def lock_folder(storage: Storage, remedy: str, busy: str = "") -> Iterator[None]:
    """Hold a folder on a local disk for one process; elsewhere nothing can be locked, and manifests keep runs apart.

    Where another process holds it, one waits, or is refused with what `busy` says of it, {} for its number.
    """
    if not storage.local:
        yield
        return
    try:
        storage.make_folder(".")
        handle = Path(storage.path("lock")).open("a+")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise HeddleError(f"{storage.root}: cannot be written ({error.strerror}); {remedy}") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if busy else fcntl.LOCK_EX)
        except BlockingIOError:
            handle.seek(0)
            raise HeddleError(f"{storage.root}: {busy.format(handle.read().strip() or 'unknown')}") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def _write_new(path: str, content: bytes, durable: bool) -> None:
    """Write a file that is not there, in a folder that is made if need be."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    with open(handle, "wb", buffering=0, closefd=True) as stream:
        left = memoryview(content)
        while left:  # a write to a disk that fills up takes a part, and only the next one fails
            left = left[stream.write(left) :]
        if durable:
            os.fsync(handle)


def _draft_of(name: str) -> str:
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}.{file}.{uuid.uuid4().hex}"
