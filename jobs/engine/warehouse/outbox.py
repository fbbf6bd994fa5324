"""The outbox: what has been published of a stream, in order, for those who want it exactly once: sinks and alerts.

It begins when a stream first has someone who wants it. From then on every result file that becomes public is entered
in a publication, numbered and immutable; only files that are entered may be merged, and none is swept away before
everyone has it. A reader of the outbox has a mark: the last publication that it has got.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from jobs.engine.warehouse.ledger import newest_ledger
from jobs.engine.warehouse.manifest import DataFile, newest
from jobs.host.stops import step
from jobs.host.storage import Storage
from optimizer.errors import HeddleError

FOLDER = "outbox"
MARKS = "outbox_marks"


@dataclass(frozen=True)
class Publication:
    """Result files that became public together."""

    number: int
    warehouse: str  # an identity, so that a sink can tell two warehouses of a stream apart
    batch: int = -1
    files: tuple[DataFile, ...] = ()
    entered: tuple[str, ...] = ()  # the files that this publication and those before it have, as far as they live
    reader: str = ""  # the only one that it is for; "" for all


class Standing(NamedTuple):
    """How far a reader is: the last batch that it has got, and how many publications wait for it."""

    batch: int | None
    behind: int


def newest_publication(storage: Storage) -> Publication | None:
    """Load the newest publication; None where nobody has wanted one yet."""
    while names := _names(storage):
        if head := _find(storage, names[-1]):
            return head
    return None


def open_outbox(storage: Storage) -> Publication:
    """Return the newest publication; where there is none, begin with what is public already."""
    head = newest_publication(storage)
    while head is None:
        ledger, manifest = newest_ledger(storage), newest(storage)
        names = tuple(file.name for file in ledger.public(manifest.results) if not file.tier)
        _create(storage, Publication(0, uuid.uuid4().hex[:16], manifest.batch, (), names))
        head = newest_publication(storage)
    return head


def enter_published(storage: Storage) -> Publication:
    """Enter what has become public since, batch by batch; return the newest publication."""
    head = open_outbox(storage)
    while True:
        ledger, manifest = newest_ledger(storage), newest(storage)  # after the head: it may leave out older files
        live = {file.name for file in manifest.results}
        entered = set(head.entered)
        new = [file for file in ledger.public(manifest.results) if not file.tier and file.name not in entered]
        if not new:
            return head
        for batch, files in groupby(sorted(new, key=lambda file: file.batch), lambda file: file.batch):
            publication = tuple(files)
            names = (*(name for name in head.entered if name in live), *(file.name for file in publication))
            after = Publication(head.number + 1, head.warehouse, batch, publication, names)
            if not _create(storage, after):
                break  # another run has entered something meanwhile: look again
            step("entered")
            head = after
        head = open_outbox(storage)


def waiting_for(storage: Storage, reader: str) -> list[Publication]:
    """Return what waits for a reader that wants everything, in order; a new one begins with all answers."""
    if marked(storage, reader) is None:
        begin_with_all(storage, reader)
    return publications_for(storage, reader)


def begin_with_all(storage: Storage, reader: str) -> None:
    """Let a reader begin with the first publication or, where that is history, with one of all answers.

    Two deliveries at once may let it begin: whoever makes the publication takes its number, and what the other one
    finds tells it so, since publications become history only after a mark."""
    while True:
        head = open_outbox(storage)
        if _has_all(storage):
            mark(storage, reader, 0)
            return
        if marked(storage, reader) is not None:
            return
        own = next((one for one in _publications(storage) if one.reader == reader), None)
        if own is not None:
            mark(storage, reader, own.number - 1)
            return
        manifest = newest(storage)
        names = set(head.entered)
        files = tuple(file for file in manifest.results if file.tier or file.name in names)
        after = replace(head, number=head.number + 1, batch=manifest.batch, files=files, reader=reader)
        if _create(storage, after):
            step("entered")
            mark(storage, reader, head.number)
            return


def begin_with_new(storage: Storage, reader: str) -> None:
    """Let a reader begin with what is published from now on, or with the first publication while that is there."""
    number = 0 if _has_all(storage) else open_outbox(storage).number
    if marked(storage, reader) is None:  # else another delivery has let it begin meanwhile
        mark(storage, reader, number)


def _has_all(storage: Storage) -> bool:
    """Say whether the publications hold all that was ever published: the first is there, and nothing was before it."""
    open_outbox(storage)
    first = _find(storage, _name(0))
    return first is not None and first.batch < 0


def publications_for(storage: Storage, reader: str) -> list[Publication]:
    """Return what waits for a reader, in order; refuse one that has missed what nobody keeps any more."""
    there = _names(storage)  # before the mark: another delivery may go on, and forget what the reader has got then
    last = marked(storage, reader)
    if last is None:
        raise KeyError(reader)
    names = [name for name in there if _number(name) > last]
    if names and _number(names[0]) > last + 1:
        raise HeddleError(
            f"{reader} has missed publications {last + 1} to {_number(names[0]) - 1}, "
            "which were made while the catalog did not name it; give it another name and another place"
        )
    return [one for name in names if (one := _find(storage, name)) and one.reader in ("", reader)]


def mark(storage: Storage, reader: str, number: int) -> None:
    """Note that a reader has got a publication."""
    before = [name for name in storage.names(f"{MARKS}/{reader}") if _number(name) < number]
    storage.create(f"{MARKS}/{reader}/{number:012d}.json", b"{}")
    for name in before:
        storage.delete(name)


def marked(storage: Storage, reader: str) -> int | None:
    """Return the last publication that a reader has got; None for one that is new."""
    return max((_number(name) for name in storage.names(f"{MARKS}/{reader}")), default=None)


def standing(storage: Storage, reader: str) -> Standing:
    """Return how far a reader is; what has become public and is not entered yet counts as one publication a batch."""
    last, head = marked(storage, reader), newest_publication(storage)
    entered = set(head.entered) if head else set()
    public = newest_ledger(storage).public(newest(storage).results)
    waiting = {file.batch for file in public if not file.tier and file.name not in entered}
    if last is None or head is None:
        return Standing(None, len({file.batch for file in public}))
    own = [one for one in _publications(storage) if one.number > last and one.reader in ("", reader)]
    # it has got what comes before the first publication, which is nothing, or not yet all that was there when it joined
    if last == 0 or (own and own[0].reader == reader):
        return Standing(None, len(own) + len(waiting))
    got = _find(storage, _name(last))
    batch = got.batch if got else own[0].batch - 1 if own else head.batch
    return Standing(batch, len(own) + len(waiting))


def forget_publications(storage: Storage, readers: Iterable[str]) -> None:
    """Delete the publications that all of some readers have got, but for the newest."""
    last = [marked(storage, reader) for reader in readers]
    common = min((number for number in last if number is not None), default=-1) if None not in last else -1
    for name in _names(storage)[:-1]:
        if _number(name) < common:  # the last one that all have got tells them their batch
            storage.delete(name)


def mergeable_files(storage: Storage, public: Sequence[DataFile]) -> tuple[DataFile, ...]:
    """Return the public files that may be merged: where there is an outbox, those that are entered in it."""
    head = newest_publication(storage)
    if head is None:
        return tuple(public)
    entered = set(head.entered)
    return tuple(file for file in public if file.tier or file.name in entered)


def waiting_files(storage: Storage) -> set[str]:
    """Return the names of the result files that someone may still have to get."""
    return {file.name for one in _publications(storage) for file in one.files}


def _publications(storage: Storage) -> Iterator[Publication]:
    """Load what has been published; what is forgotten meanwhile, everyone has got."""
    return (one for name in _names(storage) if (one := _find(storage, name)))


def _names(storage: Storage) -> list[str]:
    return sorted(name for name in storage.names(FOLDER) if name.endswith(".json"))


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].removesuffix(".json"))


def _name(number: int) -> str:
    return f"{FOLDER}/{number:012d}.json"


def _find(storage: Storage, name: str) -> Publication | None:
    """Load a publication; None where it has been forgotten."""
    try:
        document: dict[str, Any] = json.loads(storage.read(name))
        files = tuple(DataFile(**file) for file in document.pop("files"))
        return Publication(**document | {"files": files, "entered": tuple(document["entered"])})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise HeddleError(f"{storage.path(name)}: the outbox is damaged; restore it from a backup") from None


def _create(storage: Storage, publication: Publication) -> bool:
    document = asdict(publication)
    for file in document["files"]:
        if not file["revised"]:  # as it was before there were revisions
            del file["revised"]
    content = json.dumps(document, separators=(",", ":")).encode()
    return storage.create(_name(publication.number), content)
