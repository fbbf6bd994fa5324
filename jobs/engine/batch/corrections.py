"""Corrections: late events have the emitted windows that they belong to answered once more, from raw events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jobs.engine.batch.run_batch import FOLDERS, results_of, run_tasks
from jobs.engine.program.program import Program
from jobs.engine.sources.files import File
from jobs.engine.warehouse.consumed_files import RawEvents
from jobs.engine.warehouse.manifest import DataFile, Manifest
from jobs.engine.work import Executors, Work
from jobs.host.say import Say, silent
from jobs.host.storage import Storage
from optimizer.windows.window import BEGINNING


@dataclass(frozen=True)
class Corrections:
    """What late events correct emitted windows with: the files of their batch, all events before it, who reads them."""

    files: Sequence[File]
    raw: Callable[[int], RawEvents]  # of the batches before, since a time
    executors: Executors
    say: Say = silent

    def reach_back(self, before: Manifest, program: Program) -> int:
        """Return the time after which windows end that are corrected: all their events are there, late ones too."""
        known = before.watermark if before.corrected_after is None else before.corrected_after
        low = max(known, before.watermark - program.corrections, BEGINNING)
        longest = _longest_range(program)
        since = self.raw(max(BEGINNING, low - longest + 1)).since
        if since == BEGINNING:
            return low
        self.say("files of earlier batches are gone: emitted windows that hold some of their events are not corrected")
        return min(max(low, since + longest - 1), before.watermark)

    def revise(self, storage: Storage, program: Program, work: Work, first: int = BEGINNING) -> list[DataFile]:
        """Answer the windows that are out and hold events of the batch once more, from all events they hold by now.

        No event of the batch before `first` corrects a window. The batch's own events tell which rows these are: those
        that they alone would give in these windows."""
        assert work.corrected_after is not None
        low = max(work.corrected_after, first)
        past = Work(work.root, work.batch, low, work.emitted, work.buckets, joined=work.joined, kind="correct")
        past = replace(past, counts=False, finds_late=False)
        own = run_tasks(storage, program, past, self.executors.execute_alone(self.files), FOLDERS)
        files = [*self.raw(max(BEGINNING, low - _longest_range(program) + 1)).files, *self.files]
        whole = replace(past, touched=tuple(results_of(own)))
        if not whole.touched:
            return []
        return results_of(run_tasks(storage, program, whole, self.executors.execute_alone(files), FOLDERS))


def _longest_range(program: Program) -> int:
    woven = [tree.reach for _, tree in program.roots() if not tree.rows]
    return max([*woven, *(query.window.range for query in program.unshared)], default=0)
