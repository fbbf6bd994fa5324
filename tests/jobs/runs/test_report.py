"""The report of a run: what its batches add up to."""

from __future__ import annotations

from jobs.engine.warehouse.manifest import Manifest
from jobs.runs.report import COUNTED, RunReport, print_batch


def test_batches_add_up_and_each_keeps_its_own_time() -> None:
    report = RunReport()
    for number, seconds in enumerate((2.0, 0.25)):
        counts = dict.fromkeys(COUNTED, 10) | {
            "partials": {"t1": 3},
            "operations": {"t1": 5},
            "unshared": {"median": 1},
            "seconds": {"read": 0.5, "write": 0.125},
        }
        report.add(counts, seconds, number)
    assert report.batch_seconds == [2.0, 0.25]
    assert report.step_seconds == {"read": 1.0, "write": 0.25}
    assert (report.batches, report.events, report.numbers) == (2, 20, [0, 1])
    assert report.trees == {"t1": {"partials": 6, "operations": 10}}
    assert report.unshared == {"median": 2}


def test_a_first_batch_without_answers_says_why() -> None:
    counts = {"events": 1000, "results": 0}
    assert print_batch(Manifest(batch=0, counts=counts), 0.5) == "batch 0: 1,000 events, no window is over yet, 0.5 s"
    assert print_batch(Manifest(batch=1, counts=counts), 0.5) == "batch 1: 1,000 events, 0 results, 0.5 s"
