"""The templates, and how they print moments, shares and numbers. Everything in a template is escaped."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from optimizer.plan.explain import cost_text
from plugins.heddle_page.read.history import mean_deviation
from plugins.heddle_page.view.history import deviation_chart, named, saving_chart
from plugins.heddle_page.view.queries import number_text

DASH = "\N{EN DASH}"
AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def show(template: str, **values: Any) -> str:
    """Return a template filled in with values."""
    return ENVIRONMENT.get_template(template).render(values)


def when(moment: datetime | None) -> Markup:
    """Return a moment as HTML, for people and for machines."""
    if moment is None:
        return Markup("&ndash;")
    text = '<time datetime="{}"><span>{:%Y-%m-%d}</span> <span>{:%H:%M:%S}</span></time>'
    return Markup(text).format(moment.isoformat(), moment, moment)


def percent(share: float | None) -> str:
    """Return a share as people read it."""
    return DASH if share is None else f"{share:.1%}"


def count_text(number: float) -> str:
    """Return a count with commas between its thousands."""
    return f"{number:,.0f}"


def plural(number: int, noun: str, many: str = "") -> str:
    """Return so many things.

    >>> plural(1, "query", "queries"), plural(2000, "row")
    ('1 query', '2,000 rows')
    """
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def age(span: timedelta) -> str:
    """Return how long something is ago, in the largest unit that there is one of.

    >>> age(timedelta(seconds=200)), age(timedelta(days=3))
    ('3 minutes', '3 days')
    """
    seconds = max(int(span.total_seconds()), 0)
    for size, unit in AGES:
        if seconds >= size:
            return plural(seconds // size, unit)
    return plural(seconds, "second")


def milliseconds(cost: float | None) -> str:
    """Return CPU milliseconds per 1,000 events; the header says the unit.

    >>> milliseconds(0.12345), milliseconds(12.3456), milliseconds(22_911.4)
    ('0.123', '12.3', '22,911')
    """
    if cost is None:
        return DASH
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.3g}"


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= {
    "when": when,
    "percent": percent,
    "counted": count_text,
    "plural": plural,
    "age": age,
    "milliseconds": milliseconds,
    "number": number_text,
    "named": named,
    "cost": cost_text,
    "mean_deviation": mean_deviation,
    "saving_chart": saving_chart,
    "deviation_chart": deviation_chart,
}
