"""Tallies: whatever the events were cut into, merging them gives the tally of all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from jobs.engine.events.columns import value_of
from jobs.engine.program.program import MeasureProgram
from jobs.engine.slices.tallies import fold_tally, hash_values, merge_tallies, read_tally, tally_events

COUNTS = MeasureProgram("v", "value_counts", 0, "float64", "x", "", "")
REGISTERS = MeasureProgram("r", "registers", 0, "float64", "x", "", "", deviation=0.05)
VALUES = pa.array([2.0, float("nan"), -0.0, None, 0.0, 2.0, float("nan"), 7.0])
VALID = np.asarray(VALUES.is_valid())


def folded(measure: MeasureProgram, first: int, end: int) -> dict[str, pa.Array]:
    """The tally of some of the values, all in one cell."""
    part = VALUES.slice(first, end - first)
    events = tally_events(measure, value_of(part), VALID[first:end], None)
    return fold_tally(measure, events, np.zeros(len(part), np.int64), 1)


def test_value_counts_group_as_spark_does() -> None:
    """NaN is one value and the largest, -0.0 and 0.0 are one, null is none."""
    tally = read_tally(COUNTS, folded(COUNTS, 0, len(VALUES)))
    assert [str(abs(value)) for value in tally.values.to_pylist()] == ["0.0", "2.0", "7.0", "nan"]
    assert tally.numbers.tolist() == [2, 2, 1, 2]


@pytest.mark.parametrize("measure", [COUNTS, REGISTERS])
@pytest.mark.parametrize("cut", [1, 4, 7])
def test_parts_merge_to_the_whole(measure: MeasureProgram, cut: int) -> None:
    parts = [folded(measure, 0, cut), folded(measure, cut, len(VALUES))]
    together = {name: pa.concat_arrays([part[name] for part in parts]) for name in measure.tally}
    merged = read_tally(measure, merge_tallies(measure, together, None, np.zeros(2, np.int64), 1))
    whole = read_tally(measure, folded(measure, 0, len(VALUES)))
    assert merged.offsets.tolist() == whole.offsets.tolist()
    assert merged.codes.tolist() == whole.codes.tolist()
    assert merged.numbers.tolist() == whole.numbers.tolist()


def test_a_slice_without_a_value_has_an_empty_tally() -> None:
    events = tally_events(COUNTS, value_of(VALUES), VALID[3:4], np.array([3]))
    tally = read_tally(COUNTS, fold_tally(COUNTS, events, np.zeros(1, np.int64), 1))
    assert (tally.offsets.tolist(), len(tally.values)) == ([0, 0], 0)


def test_equal_values_have_equal_hashes_in_every_width() -> None:
    """A long and a decimal are hashed by their numbers, a text by its bytes, whatever array they come in."""
    texts = pa.array(["a", "", "ä"])
    assert hash_values(texts).tolist() == hash_values(texts.dictionary_encode()).tolist()
    assert hash_values(pa.array([5, -1])).tolist() != hash_values(pa.array([5, -1], pa.int32())).tolist()
