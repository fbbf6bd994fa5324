"""The slices of a tree as columns: a root's are taken from its rows, a fed tree's are folded from its feeder's.

A tree that another one feeds is a level: it has no slices of its own on disk or in an exchange, and only the measures
that its queries read are ever folded.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from jobs.engine.program.program import MeasureProgram
from jobs.engine.slices.slices import Slices
from jobs.engine.slices.tallies import Tally, read_tally
from jobs.kernels.algebra.operators import (
    LIMB_BITS,
    LIMB_MASK,
    SUM_FLOAT,
    SUM_INT,
    VALID,
    VALUE_COLUMNS,
    width_of,
)
from jobs.kernels.arrays import Bools, Column, Ints, Rows
from jobs.kernels.columns.fold import prepare
from jobs.kernels.columns.fold_bounds import fold_between, pick_rows
from jobs.kernels.columns.moments import fold_all_moments
from jobs.kernels.slices.edges import level_bounds
from jobs.kernels.tallies.values import RankedTally, rank_entries
from optimizer.windows.edges import Edges


class Columns(NamedTuple):
    """A measure's partials as the columnar kernels want them; no mask when none is null."""

    columns: tuple[Column, ...]
    valid: Bools | None


class TreeColumns(Protocol):
    """What finals read of a tree: whose slices there are, when they start, and the columns of its measures."""

    keys: pa.Table
    offsets: Ints
    start: Ints

    @property
    def root(self) -> RootColumns:
        """The finest slices that it is made of, which alone have tallies."""

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, made once."""

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return the partials of a measure as rows, for the techniques that take a slice at a time."""

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that some slices carry beside a measure."""


class RootColumns:
    """The columns of a tree that keeps its slices."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self.keys, self.offsets, self.start = slices.keys, slices.offsets, slices.start
        self._columns: dict[str, Columns] = {}
        self._tallies: dict[str, Tally] = {}
        self._ranked: dict[str, RankedTally] = {}

    @property
    def root(self) -> RootColumns:
        """The slices that a root's columns come from: these."""
        return self

    def tally(self, measure: MeasureProgram) -> Tally:
        """Return the tally of a measure, read once."""
        if measure.key not in self._tallies:
            self._tallies[measure.key] = read_tally(measure, self._slices.carried)
        return self._tallies[measure.key]

    def ranked(self, measure: MeasureProgram) -> RankedTally:
        """Return the tally of a measure with the values of every key numbered in order; that is done once."""
        if measure.key not in self._ranked:
            tally = self.tally(measure)
            self._ranked[measure.key] = rank_entries(tally.offsets, tally.codes, tally.numbers, self.offsets)
        return self._ranked[measure.key]

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, made once."""
        if measure.key not in self._columns:
            rows = self._slices.rows[measure.key]
            valid = rows[:, VALID] != 0
            self._columns[measure.key] = Columns(_columns(measure.op, rows), None if valid.all() else valid)
        return self._columns[measure.key]

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return a copy of a measure's rows."""
        return self._slices.rows[measure.key].copy()

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that some slices carry beside a measure."""
        return self._slices.carried[name].take(index)


class LevelColumns:
    """The columns of a tree that another one feeds."""

    def __init__(self, edges: Edges, feeder: TreeColumns) -> None:
        self._feeder = feeder
        self.keys = feeder.keys
        self.offsets, self.start, self._lo, self._hi = level_bounds(edges, feeder.offsets, feeder.start)
        self._columns: dict[str, Columns] = {}
        self._picked: dict[str, Ints] = {}

    @property
    def root(self) -> RootColumns:
        """The slices of the tree that feeds all."""
        return self._feeder.root

    def columns(self, measure: MeasureProgram) -> Columns:
        """Return the columns of a measure, folded once."""
        if measure.key not in self._columns:
            finer = self._feeder.columns(measure)
            self._columns[measure.key] = self._picks(measure, finer) if measure.carries else self._folds(measure, finer)
        return self._columns[measure.key]

    def rows(self, measure: MeasureProgram) -> Rows:
        """Return a measure's columns as rows."""
        return _rows(measure.op, self.columns(measure))

    def carried(self, measure: MeasureProgram, name: str, index: pa.Array) -> pa.Array:
        """Return the values that the picked finer slices carry."""
        self.columns(measure)
        return self._feeder.carried(measure, name, pa.array(self._picked[measure.key]).take(index))

    def _picks(self, measure: MeasureProgram, finer: Columns) -> Columns:
        index = pick_rows(measure.op, finer.columns[0], self._lo, self._hi, finer.valid)
        valid = index >= 0
        picked = self._picked[measure.key] = np.maximum(index, 0)
        return Columns((finer.columns[0][picked],), None if valid.all() else valid)

    def _folds(self, measure: MeasureProgram, finer: Columns) -> Columns:
        if measure.op in VALUE_COLUMNS:
            moments = fold_all_moments(measure.op, finer.columns, self._lo, self._hi, finer.valid)
            valid = moments[0] > 0
            return Columns(moments, None if valid.all() else valid)
        foldable = prepare(measure.op, finer.columns, finer.valid, len(finer.columns[0]))
        folds = [fold_between(op, column, self._lo, self._hi) for op, column in foldable.parts]
        if foldable.presence is None:
            return Columns(tuple(folds), None)
        return Columns(tuple(folds[:-1]), folds[-1] > 0)


def _columns(op: int, rows: Rows) -> tuple[Rows, ...]:
    if op in VALUE_COLUMNS:
        return tuple(rows[:, number] for number in VALUE_COLUMNS[op])
    if op == SUM_FLOAT:
        return (rows[:, 0] + rows[:, 1],)
    if op == SUM_INT:
        return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
    return (np.ascontiguousarray(rows[:, 0]),)


def _rows(op: int, partials: Columns) -> Rows:
    rows = np.zeros((len(partials.columns[0]), width_of(op)), partials.columns[0].dtype)
    columns = partials.columns
    if op == SUM_INT:  # a row keeps its low limb below 2**32
        high, low = columns
        columns = (high + (low >> LIMB_BITS), low & LIMB_MASK)
    for number, column in zip(VALUE_COLUMNS.get(op, range(len(columns))), columns, strict=True):
        rows[:, number] = column
    rows[:, VALID] = 1 if partials.valid is None else partials.valid
    return rows
