"""The things that take time, by the names that the model, the engine and the prices have for them.

Each has the steps of a run that it takes time in, and the seconds that it takes there on a typical machine.
"""

from __future__ import annotations

from collections.abc import Collection

from optimizer.algebra.techniques import BLOCK

OPENED = "file"  # a file, or a part of one, that a task reads
EVENT = "event"  # an event that is read
READ = "event.read"  # a value of an event, read or computed: a time, a key, an argument
TESTED = "event.tested"  # an event that is tested by a predicate
CELL = "event.cell"  # an event that is given its slice in a tree
SORTED = "event.cell.sorted"  # the same where there are too many possible cells to lay them out
KEYED = "event.keyed"  # an event that is given its key in a grouping, whatever the trees
SIGNED = "event.signed"  # the same in a tree that keeps shards
PARTIAL = "partial"  # an event folded into one measure of a tree
CHAINED = "partial.chained"  # such an event that waits for the one before it, which is of the same cell
MASKED = "partial.masked"  # an event that is looked at for one measure with a predicate
GUESSED = "partial.guessed"  # such an event for which the processor guesses wrong whether it passes
ROLLED = "slice.rolled"  # a finer grouping's slice, given its key in a coarser one or folded into a measure of it
SLICE = "slice"  # a slice that is made in a task, whatever its measures
MADE = "slice.made"  # a slice, for one measure: made in a task and exchanged
LOADED = "slice.loaded"  # a retained slice, for one measure, that a batch loads
MERGED = "slice.merged"  # a slice, for one measure, loaded or exchanged, on its way into a tree's columns
SAVED = "slice.saved"  # a slice, for one measure, that a batch writes to the state
REWRITTEN = "slice.rewritten"  # such a slice when state files are merged
CHUNKED = "level.chunked"  # a level of chunks that a batch keeps and reads
UNFOLDED = "slice.unfolded"  # a shard folded into the slices of one predicate's measure
LEVELLED = "level.bound"  # a slice of the feeder that is looked up for a fed tree
LEVEL = "level"  # a slice of the feeder folded into one measure of a fed tree
TICK = "grid.tick"  # a tick of a key's grid that is laid out for one measure
DENSE = "window.dense"  # a window of one measure folded on a grid
DENSE_KEY = "key.dense"  # all such windows of a key, of one range and slide in a batch
DENSE_QUERY = "query.dense"  # all windows of a range and slide in a batch that are folded so, for one measure
BOUND = "window.bound"  # a window whose slices are looked up, where there is no grid
WALKED = "slice.walked"  # a slice that is passed while the windows of one range and slide are looked up
RAGGED = "window.ragged"  # such a window whose bounds are not as far from the last ones as those were before
RAGGED_FOLD = "window.folded.ragged"  # such a window folded for one measure: the processor guesses wrong
FOLDED = "window.folded"  # such a window folded for one measure
FOLDED_QUERY = "query.folded"  # all windows of a range and slide in a batch that are folded so, for one measure
FOLDED_WIDE = "window.folded.wide"  # the same for moments, and for values that a selective measure carries
STEP = "slice.step."  # before a technique's name: a slice that it takes, for one measure
STEP_ANSWER = "window.step."  # before a technique's name: a window that it answers
FINAL = "final."  # before a technique's name: a combine operation of it
ANSWER = "answer"  # a window of a query that ends with a value
ROW = "row"  # such a window that is written
VALUE = "row.value"  # a key or an answer of such a row: a column of its file
ROW_MERGED = "row.merged"  # a row that is written again when result files are merged
ANSWERED = "query"  # a query answered in a batch

STEPS = {  # what takes time in every step of a run
    "read": (OPENED, EVENT, READ, TESTED, "batch"),
    "feed": (
        *(EVENT, TESTED, CELL, SORTED, KEYED, SIGNED, PARTIAL, CHAINED, MASKED, GUESSED, SLICE, MADE),
        *("root", "batch"),
    ),
    "exchange": (SLICE, MADE, ROLLED, "root", "batch"),
    "finals": (
        *(LOADED, MERGED, CHUNKED, UNFOLDED, LEVEL, LEVELLED, TICK, DENSE, DENSE_KEY, DENSE_QUERY),
        *(
            BOUND,
            WALKED,
            RAGGED,
            RAGGED_FOLD,
            FOLDED,
            FOLDED_WIDE,
            FOLDED_QUERY,
            ANSWER,
            ANSWERED,
            "root",
            "tree",
            "batch",
        ),
    ),
    "write": (ROW, VALUE, ROW_MERGED, SAVED, REWRITTEN, CHUNKED, ANSWERED, "root", "batch"),
    "commit": ("batch",),
}
TYPICAL = {  # seconds, in every step that a thing takes time in
    **dict.fromkeys((READ, TESTED, KEYED, PARTIAL, CHAINED, MASKED, FOLDED, ANSWER, f"{FINAL}{BLOCK}"), 2e-9),
    **dict.fromkeys((CELL, SIGNED, GUESSED, FOLDED_WIDE, DENSE, LEVEL, LEVELLED, VALUE, BOUND), 5e-9),
    **dict.fromkeys((EVENT, MERGED, TICK, SLICE, MADE, ROW), 1.5e-8),
    **dict.fromkeys((RAGGED, RAGGED_FOLD), 1e-8),
    WALKED: 1e-9,
    **dict.fromkeys((SORTED, ROLLED, ROW_MERGED, UNFOLDED, SAVED, REWRITTEN, LOADED), 3e-8),
    DENSE_KEY: 2e-7,
    **dict.fromkeys((ANSWERED, DENSE_QUERY, FOLDED_QUERY), 5e-5),
    "tree": 1e-4,
    **dict.fromkeys((CHUNKED, OPENED, "root"), 3e-4),
    "batch": 5e-4,
}
OF_TECHNIQUES = {FINAL: 3e-8, STEP: 3e-7, STEP_ANSWER: 3e-7}  # typical seconds of those that have a technique's name


def counters_of(step: str, names: Collection[str]) -> list[str]:
    """Return which of the named counters count something that takes time in this step of a run.

    >>> counters_of("read", ["file", "event", "window.dense", "final.daba"])
    ['event', 'file']
    >>> counters_of("finals", ["file", "event", "window.dense", "final.daba"])
    ['final.daba', 'window.dense']
    """
    finals = {name for name in names if name.startswith(tuple(OF_TECHNIQUES))} if step == "finals" else set()
    return sorted({*STEPS[step], *finals} & {*names})


def typical_seconds(name: str) -> float:
    """Return the seconds that one of the things counted under this name takes on a typical machine.

    >>> typical_seconds("file"), typical_seconds("final.daba")
    (0.0003, 3e-08)
    """
    by_prefix = (seconds for prefix, seconds in OF_TECHNIQUES.items() if name.startswith(prefix))
    return TYPICAL[name] if name in TYPICAL else next(by_prefix)
