"""Answers from tallies: estimates from registers, and all that the values of a window and their counts tell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.events.columns import value_of
from jobs.engine.finals.fold import Finals
from jobs.engine.program.program import MeasureProgram, QueryProgram
from jobs.kernels.arrays import Column, Ints
from jobs.kernels.columns.bounds import WindowBounds
from jobs.kernels.tallies.last_slices import count_distinct
from jobs.kernels.tallies.registers import estimate_windows, precision_of
from jobs.kernels.tallies.values import Place, RankedTally, find_modes, find_places, sum_distinct
from optimizer.errors import HeddleError
from optimizer.plan.counters import FOLDED_WIDE

COUNTING = ("count_distinct", "sum_distinct", "avg_distinct")  # different values
LIMB_BITS, LIMB_MASK = 32, (1 << 32) - 1


class WindowValues:
    """The windows of a query that end, and the values that each of them holds."""

    def __init__(self, finals: Finals, query: QueryProgram, measure: MeasureProgram) -> None:
        root = finals.slices.root
        self.query, self._finals, self._measure = query, finals, measure
        self.windows: WindowBounds = finals.root_ranges(query.window)
        self.tally: RankedTally = root.ranked(measure)
        self._values = root.tally(measure).values

    def values(self) -> pa.Array:
        """Return the value of every rank."""
        return self._values.take(pa.array(self.tally.entry))

    def doubles(self) -> Column:
        """Return the value of every rank as a double."""
        values = self.values()
        if pa.types.is_decimal(values.type):
            return np.array([float(value) for value in values.to_pylist()], np.float64)
        return value_of(values).numbers.astype(np.float64)

    def places(self, place: Place) -> tuple[Ints, Ints]:
        """Return how many values every window holds, and the ranks of those around a place."""
        return find_places(self.tally, self.windows.group, self.windows.lo, self.windows.hi, place)

    def distinct(self) -> Ints:
        """Return how many different values every window holds; one pass counts them for all windows of the tree."""
        counts_by_window = self._finals.distinct
        if (self._measure.key, self.query.window) not in counts_by_window:
            windows = self._finals.tree.windows_of(self._measure.key, COUNTING)
            bounds = [self._finals.root_ranges(window) for window in windows]
            counts = count_distinct(self.tally, [(each.lo, each.hi) for each in bounds])
            counts_by_window |= {
                (self._measure.key, window): each for window, each in zip(windows, counts, strict=True)
            }
        return counts_by_window[self._measure.key, self.query.window]

    def sums(self, parts: Column) -> Column:
        """Return the sums over the different values of every window, by part."""
        windows = self.windows
        return sum_distinct(self.tally, parts, windows.group, windows.lo, windows.hi)

    def modes(self) -> Ints:
        """Return the rank of the most frequent value of every window."""
        return find_modes(self.tally, self.windows.group, self.windows.lo, self.windows.hi)


def answer_from_tally(finals: Finals, query: QueryProgram, measure: MeasureProgram) -> pa.Array:
    """Return the answers of a query whose measure is a tally, one for every window that ends."""
    if measure.component == "registers":
        return _estimates(finals, query, measure)
    values = WindowValues(finals, query, measure)
    finals.tally({FOLDED_WIDE: len(values.windows.lo)})
    return OF_VALUES[query.aggregate](values)


def _estimates(finals: Finals, query: QueryProgram, measure: MeasureProgram) -> pa.Array:
    """Return how many distinct values windows hold, as Spark estimates it from registers."""
    windows = finals.root_ranges(query.window)
    finals.tally({FOLDED_WIDE: len(windows.lo)})
    tally = finals.slices.root.tally(measure)
    registers = np.require(tally.values.cast(pa.int64()), requirements=["C", "W"])
    ranks = np.require(tally.numbers, requirements=["C", "W"])
    precision = precision_of(measure.deviation)
    return pa.array(estimate_windows(precision, tally.offsets, registers, ranks, windows.lo, windows.hi))


def _count_distinct(values: WindowValues) -> pa.Array:
    return pa.array(values.distinct())


def _sum_distinct(values: WindowValues) -> pa.Array:
    """Add whole numbers in two limbs, so that a sum that Spark refuses is refused here, too."""
    missing = values.distinct() == 0
    if not pa.types.is_integer(values.query.type):
        return pa.array(values.sums(values.doubles()[:, np.newaxis])[:, 0], mask=missing)
    numbers = value_of(values.values()).numbers
    sums = values.sums(np.stack([numbers >> LIMB_BITS, numbers & LIMB_MASK], axis=1))
    high, low = sums[:, 0] + (sums[:, 1] >> LIMB_BITS), sums[:, 1] & LIMB_MASK
    if np.any((high < -(1 << 31)) | (high >= 1 << 31)):
        raise HeddleError(
            f"query {values.query.id}: the sum of a window does not fit into {values.query.type}, and Spark would "
            "refuse it too; cast to double first"
        )
    return pa.array((high << LIMB_BITS) | low, mask=missing)


def _avg_distinct(values: WindowValues) -> pa.Array:
    counts = values.distinct()
    sums = values.sums(values.doubles()[:, np.newaxis])[:, 0]
    return pa.array(sums / np.maximum(counts, 1), mask=counts == 0)


def _percentiles(values: WindowValues, is_descending: bool = False) -> pa.Array:
    doubles = np.append(values.doubles(), 0.0)  # where a window has no value, its rank is -1
    return _by_share(values, lambda share: _interpolate(values, doubles, Place(share, False, is_descending)))


def _interpolate(values: WindowValues, doubles: Column, place: Place) -> pa.Array:
    """Interpolate between the values around (n - 1) * share, in the operations and the order that Spark does it in."""
    sizes, ranks = values.places(place)
    below, above = doubles[ranks[:, 0]], doubles[ranks[:, 1]]
    exact = (sizes - 1) * place.share
    with np.errstate(invalid="ignore"):
        between = below + (above - below) * (exact - np.floor(exact))
    return pa.array(np.where(ranks[:, 0] == ranks[:, 1], below, between), mask=sizes == 0)


def _discrete_percentiles(values: WindowValues, is_descending: bool = False) -> pa.Array:
    doubles = values.doubles()

    def at(share: float) -> pa.Array:
        _, ranks = values.places(Place(share, True, is_descending))
        return pc.take(pa.array(doubles), pa.array(ranks[:, 0], mask=ranks[:, 0] < 0))

    return _by_share(values, at)


def _approximate_percentiles(values: WindowValues) -> pa.Array:
    """Return the very values, which are within the promise of any approximation."""
    kind = values.query.type
    plain = kind.value_type if pa.types.is_list(kind) else kind
    return _by_share(values, lambda share: _values_at(values, values.places(Place(share, True))[1][:, 0], plain))


def _by_share(values: WindowValues, at: Callable[[float], pa.Array]) -> pa.Array:
    """Return the answers for every share, as an array where several are asked for; null where there is no value."""
    columns = [at(share) for share in values.query.shares]
    if not pa.types.is_list(values.query.type):
        return columns[0]
    windows, shares = len(columns[0]), len(columns)
    flat = pa.concat_arrays(columns).take(pa.array(np.arange(windows * shares).reshape(shares, -1).T.ravel()))
    missing = np.asarray(pc.is_null(columns[0]))
    offsets = np.concatenate([[0], np.cumsum(np.where(missing, 0, shares))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat.drop_null(), values.query.type, mask=pa.array(missing))


def _mode(values: WindowValues) -> pa.Array:
    return _values_at(values, values.modes(), values.query.type)


def _values_at(values: WindowValues, ranks: Ints, kind: pa.DataType) -> pa.Array:
    return pc.take(values.values(), pa.array(ranks, mask=ranks < 0)).cast(kind)


OF_VALUES: dict[str, Callable[[WindowValues], pa.Array]] = {
    "count_distinct": _count_distinct,
    "sum_distinct": _sum_distinct,
    "avg_distinct": _avg_distinct,
    "median": _percentiles,
    "percentile": _percentiles,
    "percentile_cont": _percentiles,
    "percentile_disc": _discrete_percentiles,
    "percentile_cont_desc": partial(_percentiles, is_descending=True),
    "percentile_disc_desc": partial(_discrete_percentiles, is_descending=True),
    "percentile_approx": _approximate_percentiles,
    "mode": _mode,
}
