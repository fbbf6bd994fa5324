"""What a query's partials hold: a FILTER is a predicate of its measures, however it is written."""

from __future__ import annotations

import pytest

from optimizer.catalog.model.table import Shape
from optimizer.catalog.read.selects import parse_selected
from optimizer.plan.measures import demands_of, measures_of


def shape(select: str, where: str = "") -> Shape:
    aggregate, arguments, name = parse_selected(select)
    return Shape("s", aggregate, arguments, where, (), name)


@pytest.mark.parametrize(
    ("select", "where", "measures"),
    [
        ("sum(x) FILTER (WHERE p)", "", ["sum(x) where p"]),
        ("sum(x) FILTER (WHERE p OR q)", "a OR b", ["sum(x) where (a OR b) AND (p OR q)"]),
        ("count(*) FILTER (WHERE n > 1)", "", ["count(*) where n > 1"]),
        ("count_if(n > 1)", "", ["count(*) where n > 1"]),
        ("count_if(n > 1) FILTER (WHERE p)", "", ["count(*) where p AND n > 1"]),
        ("sum(if(n > 1, 1, 0))", "", ["count(*) where n > 1"]),
        ("sum(CASE WHEN p THEN x ELSE NULL END)", "", ["sum(x) where p"]),
        ("max_by(s, x) FILTER (WHERE p)", "", ["argmax(s, x) where p"]),
        ("avg(x) FILTER (WHERE p)", "", ["sum(cast(x AS DOUBLE)) where p", "count(x) where p"]),
        # what looks like a filter and is none: other events count, too, or nulls are answers
        ("sum(if(p, x, 0))", "", ["sum(if(p, x, 0))"]),
        ("sum(if(n > 1, 1, 0)) FILTER (WHERE p)", "", ["sum(if(n > 1, 1, 0)) where p"]),
        ("sum(if(p, 1D, 0))", "", ["sum(if(p, cast(1 AS DOUBLE), 0))"]),
        ("first(if(p, x, NULL))", "", ["first(if(p, x, NULL))"]),
        ("max_by(if(p, s, NULL), x)", "", ["argmax(if(p, s, NULL), x)"]),
        ("sum(CASE WHEN p THEN x WHEN q THEN y END)", "", ["sum(CASE WHEN p THEN x WHEN q THEN y END)"]),
    ],
)
def test_filters(select: str, where: str, measures: list[str]) -> None:
    assert [str(measure).replace("CAST", "cast") for measure in measures_of(shape(select, where))] == measures


def test_windows_in_which_nothing_passes_a_filter_are_counted() -> None:
    """Such a window has a row in Spark's answer: 0 or null; where nothing passes the WHERE, it has none."""
    assert list(map(str, demands_of(shape("sum(x) FILTER (WHERE p)", "q"))))[1:] == ["count(*) where q"]
    assert list(map(str, demands_of(shape("count_if(p)"))))[1:] == ["count(*)"]
    assert len(demands_of(shape("sum(x)", "q"))) == 1
