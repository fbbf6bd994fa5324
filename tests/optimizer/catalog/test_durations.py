"""Durations are exact, and months have no length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.catalog.sql.durations import LONGEST, parse_duration, parse_window, print_duration
from optimizer.errors import Mistake


@pytest.mark.parametrize(
    ("text", "ticks"),
    [
        ("1 minute", 60_000_000),
        ("90 seconds", 90_000_000),
        ("INTERVAL 5 MINUTES", 300_000_000),
        ("interval '5' minutes", 300_000_000),
        ("90s", 90_000_000),
        ("5m", 300_000_000),
        ("250ms", 250_000),
        ("2 h", 7_200_000_000),
        ("1 week", 604_800_000_000),
        ("1 day 2 hours", 93_600_000_000),
        ("0.5 seconds", 500_000),
        ("0.000001 seconds", 1),
        ("-5 seconds", -5_000_000),
        ("+5 seconds", 5_000_000),
    ],
)
def test_what_people_write(text: str, ticks: int) -> None:
    assert parse_duration(text) == ticks


@pytest.mark.parametrize(
    "text",
    [
        "1 month",
        "2 years",
        "1 quarter",
        "5",
        "",
        "minute",
        "1 minit",
        "0.0000001 s",
        "9" * 19 + " days",
        "1e3 s",
        "٣ s",
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(Mistake):
        parse_duration(text)


@given(st.integers(-LONGEST, LONGEST))
def test_printed_durations_are_the_same(ticks: int) -> None:
    assert parse_duration(print_duration(ticks)) == ticks


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(-(10**6), 10**6))
def test_offsets_are_brought_into_the_slide(slide: int, more: int, offset: int) -> None:
    if abs(offset) >= slide:
        with pytest.raises(Mistake, match="is not shorter than the slide"):
            parse_window(f"{slide + more} us", f"{slide} us", f"{offset} us")
        offset = offset % slide
    window = parse_window(f"{slide + more} us", f"{slide} us", f"{offset} us")
    assert 0 <= window.offset < window.slide
    assert (window.offset - offset) % slide == 0


def test_without_a_slide_it_tumbles() -> None:
    window = parse_window("1000 rows", None, None)
    assert (window.range, window.slide, window.rows) == (1000, 1000, True)
