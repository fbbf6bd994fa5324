"""How many keys are active in a span of time: from the gaps between a key's events.

A window of length t holds an event of a key unless it lies inside of one of the key's gaps. So the keys that have an
event in it are, on average, rate * E[min(gap, t)], whatever the keys' rates and however they come. The gaps behind the
last events are known to be longer than what was seen, no more (Kaplan and Meier, 1958); beyond the longest gap that
was seen, gaps end at the mean rate.
"""

from __future__ import annotations

import numpy as np

from jobs.kernels.arrays import Ints
from optimizer.plan.definition import Curve
from optimizer.windows.window import FloatArray

POINTS = 40  # of a curve


def activity_curve(times: FloatArray, codes: Ints, rate: float) -> Curve:
    """Return spans of time in seconds and the keys that have an event in them, at so many events per second.

    Two keys, each with an event every 4 seconds: a second holds half a key, four seconds hold both.

    >>> times = np.arange(0, 4000, 2.0)
    >>> curve = dict(activity_curve(times, np.arange(2000) % 2, rate=0.5))
    >>> round(float(np.interp(1.0, list(curve), list(curve.values()))), 2), round(max(curve.values()), 2)
    (0.5, 2.0)
    """
    order = np.lexsort((times, codes))
    times, codes = times[order], codes[order]
    ended = np.append(codes[1:] == codes[:-1], False)  # the last event of a key has no gap that is known to end
    until = np.append(times[1:], 0.0)
    gaps = np.where(ended, until - times, times.max() - times)
    return _integrate(gaps, ended, rate)


def _integrate(gaps: FloatArray, ended: np.ndarray[tuple[int], np.dtype[np.bool_]], rate: float) -> Curve:
    order = np.lexsort((~ended, gaps))
    gaps, ended = gaps[order], ended[order]
    at_risk = np.arange(len(gaps), 0, -1)
    surviving = np.cumprod(np.where(ended, 1 - 1 / at_risk, 1.0))  # the share of gaps that are longer
    before = np.concatenate([[1.0], surviving[:-1]])
    longer = np.cumsum(before * np.diff(gaps, prepend=0.0))  # E[min(gap, t)] at every t that is a gap
    last_end = int(np.flatnonzero(ended)[-1]) if ended.any() else 0
    hazard = max(int(ended.sum()), 1) / max(float(gaps.sum()), 1e-9)
    spans = np.unique(np.geomspace(max(gaps[last_end] / 1e4, 1e-6), max(gaps[last_end], 1e-6), POINTS))
    inside = np.interp(spans, np.concatenate([[0.0], gaps]), np.concatenate([[0.0], longer]))
    beyond = np.geomspace(0.1, 30.0, 12) / hazard
    tail = inside[-1] + surviving[last_end] / hazard * -np.expm1(-beyond)
    points = [*zip(spans, inside, strict=True), *zip(spans[-1] + beyond, tail, strict=True)]
    return tuple((float(span), float(rate * keys)) for span, keys in points)
