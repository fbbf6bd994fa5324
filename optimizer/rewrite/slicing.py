"""In which slice an event or a finer slice is, as an expression that every plain Spark has."""

from __future__ import annotations

from itertools import chain

from optimizer.catalog.model.render import window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.windows.edges import Edges, common_step, period
from optimizer.windows.window import Window

FEW = 8  # progressions written side by side; the code Spark generates for many is never finished
LONGEST_TABLE = 4096  # steps of a composite slide that are looked up


def slice_window(edges: Edges) -> Window | None:
    """The tumbling window that has just these edges, if one has."""
    if len(edges) > 1:
        return None
    ((size, residue),) = edges
    return Window(size, size, residue)


def slice_start(edges: Edges, time: str) -> str:
    """Where the slice of a time begins; it has the type of the time column, as Spark's own window has."""
    if window := slice_window(edges):
        return f"{window_call(window, time)}.start"
    since_edge = _since_edge(edges, f"unix_micros(cast({quote(time)} AS TIMESTAMP))")
    return f"timestampadd(MICROSECOND, -({since_edge}), {quote(time)})"


def _since_edge(edges: Edges, tick: str) -> str:
    """Microseconds since the last edge."""
    if len(edges) <= FEW:
        return f"least({', '.join(f'pmod({_less(tick, residue)}, {size})' for size, residue in edges)})"
    step, shift = common_step(edges)
    length = period(edges)
    if length // step <= LONGEST_TABLE:
        table = ", ".join(map(str, steps_since_edge(edges)))
        from_shift = _less(tick, shift)
        return f"pmod({from_shift}, {step}) + array({table})[pmod({from_shift}, {length}) DIV {step}] * {step}L"
    pairs = ", ".join(f"named_struct('p', {size}L, 'r', {residue}L)" for size, residue in edges)
    return f"array_min(transform(array({pairs}), e -> pmod({tick} - e.r, e.p)))"


def steps_since_edge(edges: Edges) -> list[int]:
    """For every common step of a composite slide, how many steps ago the last edge was."""
    step, shift = common_step(edges)
    length = period(edges)
    marked = set(chain.from_iterable(range((residue - shift) % size, length, size) for size, residue in edges))
    since, found = 0, []
    for tick in range(0, length, step):  # the first step is an edge: the shift is one
        since = 0 if tick in marked else since + 1
        found.append(since)
    return found


def _less(tick: str, ticks: int) -> str:
    return f"{tick} - {ticks}" if ticks else tick
