"""The start of the slice that holds an event or a finer slice, as an expression that every plain Spark has."""

from __future__ import annotations

from itertools import chain

from optimizer.catalog.model.catalog import window_call
from optimizer.catalog.sql.expressions import quote
from optimizer.windows.edges import Edges, common_step, period
from optimizer.windows.window import Window

FEW = 8  # progressions written side by side; Spark never finishes compiling the code it generates for many
LONGEST_TABLE = 4096  # steps of a composite slide that a script looks up
LONGEST_ARRAY = 4096  # literals of array(...): Spark takes seconds to analyze more of them


def slice_window(edges: Edges) -> Window | None:
    """Return the tumbling window that has exactly these edges, or None if there is none.

    >>> slice_window(((10, 3),))
    Window(range=10, slide=10, offset=3, rows=False)
    >>> slice_window(((4, 0), (6, 0)))
    """
    if len(edges) > 1:
        return None
    ((size, residue),) = edges
    return Window(size, size, residue)


def slice_start(edges: Edges, time: str) -> str:
    """Return the start of the slice that holds a time, of the time column's type, as Spark's own window has it.

    >>> slice_start(((10_000_000, 0),), "ts")
    "window(ts, '10 seconds').start"
    >>> slice_start(((4, 0), (6, 0)), "at")[:60]
    'timestampadd(MICROSECOND, -(least(pmod(unix_micros(cast(at A'
    """
    if window := slice_window(edges):
        return f"{window_call(window, time)}.start"
    return f"timestampadd(MICROSECOND, -({since_edge(edges, microseconds(quote(time)))}), {quote(time)})"


def microseconds(time: str) -> str:
    """Return a time column as microseconds since 1970.

    >>> microseconds("ts")
    'unix_micros(cast(ts AS TIMESTAMP))'
    """
    return f"unix_micros(cast({time} AS TIMESTAMP))"


def since_edge(edges: Edges, tick: str, longest_table: int = LONGEST_TABLE) -> str:
    """Return the ticks between the last edge and a tick.

    Few progressions are tried side by side; more of them are looked up by the place in the composite slide, unless
    that has more steps than the longest table.

    >>> since_edge(((4, 0), (6, 1)), "t")
    'least(pmod(t, 4), pmod(t - 1, 6))'
    """
    if len(edges) == 1:  # least() takes two arguments or more
        ((size, residue),) = edges
        return f"pmod({_subtract(tick, residue)}, {size})"
    if len(edges) <= FEW:
        return f"least({', '.join(f'pmod({_subtract(tick, residue)}, {size})' for size, residue in edges)})"
    step, shift = common_step(edges)
    length = period(edges)
    if length // step <= longest_table:
        from_shift = _subtract(tick, shift)
        place = f"pmod({from_shift}, {length}) DIV {step}"
        return f"pmod({from_shift}, {step}) + {_table(steps_since_edge(edges))}[{place}] * {step}L"
    pairs = ", ".join(f"named_struct('p', {size}L, 'r', {residue}L)" for size, residue in edges)
    return f"array_min(transform(array({pairs}), e -> pmod({tick} - e.r, e.p)))"


def steps_since_edge(edges: Edges) -> list[int]:
    """Return, for every common step of a composite slide, how many steps ago the last edge was.

    >>> steps_since_edge(((4, 0), (6, 0)))  # edges at 0, 4, 6, 8 of 12 ticks, in steps of 2
    [0, 1, 0, 0, 0, 1]
    """
    step, shift = common_step(edges)
    length = period(edges)
    edge_ticks = set(chain.from_iterable(range((residue - shift) % size, length, size) for size, residue in edges))
    since, steps = 0, []
    for tick in range(0, length, step):  # the first step is an edge: the shift is one
        since = 0 if tick in edge_ticks else since + 1
        steps.append(since)
    return steps


def _table(numbers: list[int]) -> str:
    if len(numbers) <= LONGEST_ARRAY:
        return f"array({', '.join(map(str, numbers))})"
    return f"cast(split('{','.join(map(str, numbers))}', ',') AS array<bigint>)"


def _subtract(tick: str, ticks: int) -> str:
    return f"{tick} - {ticks}" if ticks else tick
