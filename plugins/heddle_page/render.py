"""Templates, filled in. Everything is escaped unless it is a template's own text."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from optimizer.plan.explain import cost_text
from plugins.heddle_page.read.measurements import mean_deviation
from plugins.heddle_page.view.charts import deviation_chart, saving_chart


def show(template: str, **values: Any) -> str:
    """Return a template filled in with values."""
    return ENVIRONMENT.get_template(template).render(values)


def when(moment: datetime | None) -> Markup:
    """Return a moment as HTML, for people and for machines."""
    if moment is None:
        return Markup("&ndash;")
    return Markup('<time datetime="{}">{:%Y-%m-%d %H:%M:%S}</time>').format(moment.isoformat(), moment)


def percent(share: float | None) -> str:
    """Return a share as people read it."""
    return "\N{EN DASH}" if share is None else f"{share:.1%}"


def count_text(number: float) -> str:
    """Return a count with commas between its thousands."""
    return f"{number:,.0f}"


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
    "cost": cost_text,
    "mean_deviation": mean_deviation,
    "saving_chart": saving_chart,
    "deviation_chart": deviation_chart,
}
