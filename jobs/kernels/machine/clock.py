"""When windows end: the clock that all kernels share, so that each of them holds its technique and nothing else.

It turns slice starts into steps: a partial comes in, or a window over the latest partials ends. Steps depend on the
stream alone, not on how it was cut into batches, and therefore so do the answers, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jobs.kernels.arrays import ZERO, Ints, compile_in_place, int64_literal
from optimizer.windows.window import BEGINNING, Window

INSERT: Final = int64_literal(-1)  # the step's next partial comes in
RESET: Final = int64_literal(-2)  # another group begins
GROW: Final = int64_literal(-3)  # the next partial needs more room

TAIL: Final = 0  # how many partials came in
OLDEST: Final = 1  # the first partial that a window still to end may hold
LAST: Final = 2  # when the latest partial starts
NEXT: Final = 3  # when the next window ends
HORIZON: Final = 4  # where the earliest window still to end starts
SCALARS: Final = 5


class Clock(NamedTuple):
    """The windows of the queries, when each ends next, and the retained slice starts (a ring of 2**k)."""

    windows: Ints  # range, slide, offset of each query
    order: Ints  # queries by range, the longest first
    due: Ints
    head: Ints
    times: Ints
    scalars: Ints


class Steps(NamedTuple):
    """What happens, in order. An insert: the slice's start and the oldest partial still needed; GROW comes before it if
    there is no room left. A window that ends: its query, its start and its first partial; it holds all partials from
    there to the latest."""

    query: Ints
    start: Ints
    first: Ints
    group: Ints


def make_clock(windows: Sequence[Window], since: int = BEGINNING, capacity: int = 16) -> Clock:
    """Return a clock that emits the windows which end after `since`; the capacity for slice starts is a power of two.

    >>> make_clock([Window(4, 2), Window(9, 3)], since=0).due.tolist()  # [-2, 2) and [-6, 3)
    [2, 3]
    """
    table = np.array([(w.range, w.slide, w.offset) for w in windows], np.int64).reshape(-1, 3)
    order = np.argsort(-table[:, 0], kind="stable").astype(np.int64)
    count = len(table)
    due, head, times, scalars = (np.zeros(size, np.int64) for size in (count, count, capacity, SCALARS))
    clock = Clock(table, order, due, head, times, scalars)
    restart(clock, since)
    return clock


@compile_in_place
def _end_after(windows: Ints, q: int, time: int) -> int:
    """Return the first end of query q's windows that is later than the time."""
    return int(time - (time - windows[q, 2] - windows[q, 0]) % windows[q, 1] + windows[q, 1])


@compile_in_place
def restart(clock: Clock, since: int) -> None:
    """Forget all partials, and emit the windows which end after `since`.

    >>> clock = make_clock([Window(4, 2)], since=0)
    >>> restart(clock, since=10)
    >>> clock.due.tolist()
    [12]
    """
    clock.scalars[:] = 0
    clock.scalars[LAST] = 2 * BEGINNING
    for q in range(len(clock.due)):
        clock.due[q] = _end_after(clock.windows, q, since)
        clock.head[q] = 0
    _look_ahead(clock)


@compile_in_place
def _look_ahead(clock: Clock) -> None:
    following, horizon = -BEGINNING, -BEGINNING
    for q in range(len(clock.due)):
        following = min(following, clock.due[q])
        horizon = min(horizon, clock.due[q] - clock.windows[q, 0])
    clock.scalars[NEXT] = following
    clock.scalars[HORIZON] = horizon


@compile_in_place
def _first_partial(clock: Clock, q: int, start: int) -> int:
    mask = len(clock.times) - 1
    head = max(clock.head[q], clock.scalars[OLDEST])
    while clock.times[head & mask] < start:
        head += 1
    clock.head[q] = head
    return int(head)


@compile_in_place
def _write(steps: Steps, used: int, query: int, start: int, first: int) -> int:
    steps.query[used] = query
    steps.start[used] = start
    steps.first[used] = first
    return used + 1


@compile_in_place
def _end_windows(clock: Clock, time: int, steps: Steps, used: int) -> int:
    """Write the windows that end up to the time, by end, then the longest first; jump over those without a partial.

    It stops where there is no room for all that may end at once.
    """
    while clock.scalars[NEXT] <= time and used + len(clock.due) < len(steps.query):
        end = clock.scalars[NEXT]
        for q in clock.order:
            if clock.due[q] != end:
                continue
            start = end - clock.windows[q, 0]
            if clock.scalars[LAST] < start:
                clock.due[q] = _end_after(clock.windows, q, time)
                continue
            used = _write(steps, used, q, start, _first_partial(clock, q, start))
            clock.due[q] += clock.windows[q, 1]
        _look_ahead(clock)
    return used


@compile_in_place
def _retain(clock: Clock, time: int) -> bool:
    """Remember when a partial starts, and forget those that no window needs; say whether there was room for it."""
    scalars, mask = clock.scalars, len(clock.times) - 1
    while scalars[OLDEST] < scalars[TAIL] and clock.times[scalars[OLDEST] & mask] < scalars[HORIZON]:
        scalars[OLDEST] += 1
    if scalars[TAIL] - scalars[OLDEST] > mask:
        return False
    clock.times[scalars[TAIL] & mask] = time
    scalars[TAIL] += 1
    scalars[LAST] = time
    return True


@compile_in_place
def _walk(clock: Clock, starts: Ints, until: int, steps: Steps, place: Ints) -> bool:
    """Write steps from the place on (the start that comes next, the steps that are written), as long as there is room.

    Say whether it was the clock that had none.
    """
    i, used = place
    is_full = False
    while i < len(starts):
        used = _end_windows(clock, min(starts[i], until), steps, used)
        if clock.scalars[NEXT] <= min(starts[i], until) or used == len(steps.query):
            break
        is_full = not _retain(clock, starts[i])
        if is_full:
            break
        used = _write(steps, used, INSERT, starts[i], clock.scalars[OLDEST])
        i += 1
    if i == len(starts):
        used = _end_windows(clock, until, steps, used)
    place[0], place[1] = i, used
    return is_full


@njit(cache=True)
def _double_steps(steps: Steps) -> Steps:
    """Return the same steps with twice the room."""
    size = len(steps.query)
    wide = _empty(2 * size)
    wide.query[:size], wide.start[:size] = steps.query, steps.start
    wide.first[:size], wide.group[:size] = steps.first, steps.group
    return wide


@njit(cache=True)
def _double_times(clock: Clock) -> Clock:
    """Return the same clock with twice the room for slice starts."""
    room, times = len(clock.times), np.zeros(2 * len(clock.times), np.int64)
    for i in range(clock.scalars[OLDEST], clock.scalars[TAIL]):
        times[i & (2 * room - 1)] = clock.times[i & (room - 1)]
    return Clock(clock.windows, clock.order, clock.due, clock.head, times, clock.scalars)


@njit(cache=True)
def _take(clock: Clock, starts: Ints, until: int, steps: Steps, used: int) -> tuple[Clock, Steps, int]:
    """Write the steps of starts and of the windows that end up to `until`, and make room where there is none."""
    place = np.array([0, used])
    while place[0] < len(starts) or clock.scalars[NEXT] <= until:
        if _walk(clock, starts, until, steps, place):
            clock = _double_times(clock)
            place[1] = _write(steps, place[1], GROW, ZERO, ZERO)
        if place[1] + len(clock.due) >= len(steps.query):
            steps = _double_steps(steps)
    return clock, steps, place[1]


@njit(cache=True)
def _empty(size: int) -> Steps:
    return Steps(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64))


@njit(cache=True)
def _cut(steps: Steps, used: int) -> Steps:
    return Steps(steps.query[:used], steps.start[:used], steps.first[:used], steps.group[:used])


@njit(cache=True)
def schedule(clock: Clock, starts: Ints, until: int) -> tuple[Clock, Steps]:
    """Return the steps of one group's partials, up to the windows that end at `until`.

    >>> _, steps = schedule(make_clock([Window(4, 2)], since=0), np.array([0, 3]), until=4)
    >>> steps.query.tolist(), steps.start.tolist()  # in comes 0, [-2, 2) ends, in comes 3, [0, 4) ends
    ([-1, 0, -1, 0], [0, -2, 3, 0])
    """
    clock, steps, used = _take(clock, starts, until, _empty(2 * len(starts) + 16), ZERO)
    steps.group[:] = 0
    return clock, _cut(steps, used)


@njit(cache=True)
def schedule_groups(clock: Clock, offsets: Ints, starts: Ints, since: int, until: int) -> Steps:
    """Return the steps of many groups, each from nothing: group g has the partials offsets[g] to offsets[g + 1].

    Partials of slices after `until` may be among them; no window holds them yet.

    >>> clock = make_clock([Window(4, 4)])
    >>> steps = schedule_groups(clock, np.array([0, 1, 2]), np.array([0, 3]), since=0, until=4)
    >>> steps.query.tolist(), steps.group.tolist()
    ([-2, -1, 0, -2, -1, 0], [0, 0, 0, 1, 1, 1])
    """
    steps, used = _empty(2 * len(starts) + 16), ZERO
    for g in range(len(offsets) - 1):
        begin = used
        restart(clock, since)
        if used == len(steps.query):
            steps = _double_steps(steps)
        used = _write(steps, used, RESET, ZERO, ZERO)
        clock, steps, used = _take(clock, starts[offsets[g] : offsets[g + 1]], until, steps, used)
        steps.group[begin:used] = g
    return _cut(steps, used)


def check_order(clock: Clock, starts: NDArray[Any], until: int) -> None:
    """Raise ValueError unless partials come in slice order, and none from before a window that has ended.

    >>> check_order(make_clock([Window(4, 2)]), np.array([3, 2]), until=4)
    Traceback (most recent call last):
    ValueError: slice starts must rise, from batch to batch, up to `until`
    """
    if len(starts) and (starts[0] <= clock.scalars[LAST] or np.any(starts[1:] <= starts[:-1]) or starts[-1] > until):
        raise ValueError("slice starts must rise, from batch to batch, up to `until`")
