"""Answers as an audit compares them: what Spark leaves open is no difference, all else is."""

from __future__ import annotations

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
