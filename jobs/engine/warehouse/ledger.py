"""The ledger: once a stream has one, the results of a batch are unpublished until an audit enters them here.

Entries are immutable and numbered, the newest counts. Readers take the ledger first and the manifest after it: an entry
may leave out files that the manifest of its time no longer named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from jobs.engine.warehouse.manifest import DataFile, Manifest, newest
from jobs.host.storage import Storage
from optimizer.errors import HeddleError
from optimizer.windows.window import BEGINNING

FOLDER = "ledger"
KEPT = 8  # entries
STATES = ("published", "quarantined", "discarded")


@dataclass(frozen=True)
class Ledger:
    """Result files by what was decided about them; without a single entry, everything is published."""

    sequence: int = -1
    watermark: int = BEGINNING  # windows that end at or before it have been audited, or were there before the ledger
    published: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()

    @property
    def in_use(self) -> bool:
        """Whether results have to be audited."""
        return self.sequence >= 0

    def public(self, files: Iterable[DataFile]) -> tuple[DataFile, ...]:
        """Return the files that readers may see and that may be merged; a merged file therefore holds nothing else."""
        entered = set(self.published)
        return tuple(file for file in files if not self.in_use or file.tier or file.name in entered)

    def pending(self, files: Iterable[DataFile]) -> tuple[DataFile, ...]:
        """Return the files that wait for their audit."""
        decided = {*self.published, *self.quarantined, *self.discarded}
        return tuple(file for file in files if self.in_use and not file.tier and file.name not in decided)


def newest_ledger(storage: Storage) -> Ledger:
    """Load the entry in force, or return the empty ledger of a stream that is not audited."""
    names = sorted(name for name in storage.names(FOLDER) if name.endswith(".json"))
    if not names:
        return Ledger()
    try:
        document = json.loads(storage.read(names[-1]))
        return Ledger(**{**document, **{state: tuple(document[state]) for state in STATES}})
    except (ValueError, KeyError, TypeError):
        raise HeddleError(f"{storage.path(names[-1])}: the ledger is damaged; restore it from a backup") from None


def require_audit(storage: Storage) -> Ledger:
    """Leave results unpublished from now on until they are audited; those that are there already stay published."""
    ledger = newest_ledger(storage)
    while not ledger.in_use:
        manifest = newest(storage)
        names = tuple(file.name for file in manifest.results)
        _enter(storage, Ledger(0, manifest.watermark, names))
        ledger = newest_ledger(storage)
        after = newest(storage)
        if after.sequence != manifest.sequence:  # a batch came in between, begun when nothing had to be audited
            ledger = _next(storage, ledger, after, ledger.published + tuple(file.name for file in after.results))
    return ledger


def settle(storage: Storage, ledger: Ledger, manifest: Manifest, passed: bool) -> Ledger:
    """Publish or quarantine, by one atomic step, what waited when the manifest was audited."""
    names = tuple(file.name for file in ledger.pending(manifest.results))
    audited = replace(ledger, watermark=max(ledger.watermark, manifest.watermark))
    if passed:
        return _next(storage, audited, newest(storage), audited.published + names)
    return _next(storage, replace(audited, quarantined=audited.quarantined + names), newest(storage), audited.published)


def reopen(storage: Storage, since: int) -> Ledger:
    """Let the next audit look at all windows that end after a time, since some of them are made anew."""
    ledger, manifest = newest_ledger(storage), newest(storage)
    return _next(storage, replace(ledger, watermark=min(ledger.watermark, since)), manifest, ledger.published)


def release(storage: Storage, batch: int) -> Ledger:
    """Publish a batch that an audit refused."""
    ledger, manifest, names = _find_refused(storage, batch, ("quarantined", "discarded"))
    return _next(storage, _without(ledger, names), manifest, (*ledger.published, *names))


def discard(storage: Storage, batch: int) -> Ledger:
    """Never publish a quarantined batch; its files stay, so that it can still be released."""
    ledger, manifest, names = _find_refused(storage, batch, ("quarantined",))
    left = _without(ledger, names)
    return _next(storage, replace(left, discarded=(*left.discarded, *names)), manifest, ledger.published)


def batches_of(manifest: Manifest, names: Iterable[str]) -> list[int]:
    """Return the batches that wrote some result files."""
    file_names = set(names)
    return sorted({file.batch for file in manifest.results if file.name in file_names})


def _find_refused(storage: Storage, batch: int, states: tuple[str, ...]) -> tuple[Ledger, Manifest, tuple[str, ...]]:
    ledger = newest_ledger(storage)
    manifest = newest(storage)
    candidates = [name for state in states for name in getattr(ledger, state)]
    names = {file.name for file in manifest.results if file.batch == batch} & set(candidates)
    if not names:
        batches = ", ".join(map(str, batches_of(manifest, candidates))) or "none"
        raise HeddleError(f"{storage.root}: batch {batch} is not {' or '.join(states)}; {batches} is")
    return ledger, manifest, tuple(sorted(names))


def _without(ledger: Ledger, names: Iterable[str]) -> Ledger:
    """Return the ledger without some files among the quarantined and the discarded ones."""
    removed = set(names)
    quarantined = tuple(name for name in ledger.quarantined if name not in removed)
    discarded = tuple(name for name in ledger.discarded if name not in removed)
    return replace(ledger, quarantined=quarantined, discarded=discarded)


def _next(storage: Storage, ledger: Ledger, manifest: Manifest, published: Iterable[str]) -> Ledger:
    """Enter what was decided; files that were merged away need no entry any more."""
    live = {file.name for file in manifest.results}
    names = tuple(name for name in dict.fromkeys(published) if name in live)
    entry = replace(ledger, sequence=ledger.sequence + 1, published=names)
    _enter(storage, entry)
    return entry


def _enter(storage: Storage, entry: Ledger) -> None:
    if not storage.create(_name(entry.sequence), json.dumps(asdict(entry), separators=(",", ":")).encode()):
        raise HeddleError(f"{storage.path(FOLDER)}: another check has made an entry meanwhile; run again")
    if storage.exists(_name(entry.sequence - KEPT)):
        storage.delete(_name(entry.sequence - KEPT))


def _name(sequence: int) -> str:
    return f"{FOLDER}/{sequence:012d}.json"
