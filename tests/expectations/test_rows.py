"""Answers as an audit compares them: what Spark leaves open is no difference, all else is."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from expectations.sides.row import answer_texts, near_shares
from optimizer.catalog.model.query import Query
from optimizer.windows.window import Window


def query(aggregate: str, *arguments: str) -> Query:
    return Query("q", "s", aggregate, arguments, Window(4, 2), "", (), "q")


@pytest.mark.parametrize("aggregate", ["collect_list", "collect_set"])
def test_lists_are_compared_without_their_order(aggregate: str) -> None:
    ours, theirs, other = answer_texts(query(aggregate, "x"), pa.array([[3, 1, 2], [2, 3, 1], [1, 2, 2]]))
    assert ours == theirs != other


def test_percentiles_of_several_shares_are_compared_in_order() -> None:
    ours, theirs = answer_texts(query("percentile", "x", "array(0.5, 0.1)"), pa.array([[2.0, 1.0], [1.0, 2.0]]))
    assert ours != theirs


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        (("x", "0.5"), ["50"]),
        (("x", "0.5", "50"), ["48", "49", "50", "51", "52"]),
        (("x", "array(0.0, 1.0)"), ["[1, 100]"]),
    ],
)
def test_an_approximate_percentile_is_right_within_its_ranks(arguments: tuple[str, ...], accepted: list[str]) -> None:
    events = [{"by": 0, "value": number} for number in range(100, 0, -1)] + [{"by": 0, "value": None}]
    assert near_shares(arguments, events) == accepted
    assert near_shares(arguments, [{"by": 0, "value": None}]) == [None]


def list_of_hashes(*hashes: int) -> bytes:
    """A sketch of Spark's with few values, in the order in which they came."""
    return struct.pack("<8B8I", 2, 1, 7, 12, 3, 0, len(hashes), 8, *hashes, *[0] * (8 - len(hashes)))


def set_of_hashes(*places: int) -> bytes:
    """One with some values: a table in which values that meet stand where there was room."""
    return struct.pack(f"<8B{len(places) + 1}I", 3, 1, 7, 12, 5, 0, 0, 9, sum(map(bool, places)), *places)


def registers(estimate: float, *values: int) -> bytes:
    """One with many values, and an estimate that depends on the order in which they came."""
    return struct.pack("<8B3d2I", 10, 1, 7, 12, 0, 0, 0, 10, estimate, 0.0, 0.0, 0, 0) + bytes(values)


@pytest.mark.parametrize(
    ("ours", "theirs", "other"),
    [
        (list_of_hashes(7, 5), list_of_hashes(5, 7), list_of_hashes(5, 8)),
        (set_of_hashes(0, 7, 5, 0), set_of_hashes(5, 7, 0, 0), set_of_hashes(0, 7, 5, 9)),
        (registers(2.5, 0, 3, 1), registers(2.25, 0, 3, 1), registers(2.5, 0, 3, 2)),
    ],
)
def test_sketches_are_equal_that_have_counted_the_same(ours: bytes, theirs: bytes, other: bytes) -> None:
    texts = answer_texts(query("hll_sketch_agg", "x"), pa.array([ours, theirs, other, None], pa.binary()))
    assert texts[0] == texts[1] != texts[2]
    assert texts[3] is None
