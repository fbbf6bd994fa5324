"""The bulk form of machine-made catalogs: a Parquet or CSV file with a row for each query, read as columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from optimizer.catalog.model.table import QueryTable, Shape, Windows
from optimizer.catalog.read.draft import ID_RIGHT, REPORTED, Draft, at_line, check_keys, unknown_stream
from optimizer.catalog.read.entries import default_parsed_columns, group_keys
from optimizer.catalog.read.selects import SelectedAggregate, parse_selected
from optimizer.catalog.sql.durations import LONGEST, NAMES, make_window, parse_length
from optimizer.catalog.sql.expressions import expression
from optimizer.errors import Mistake, did_you_mean, show

NEEDED = ("id", "stream", "range")
FIELDS = (
    *("id", "stream", "select", "aggregate", "expression", "where", "group_by", "range", "slide", "offset"),
    *("owner", "tags"),
)


def read_bulk(draft: Draft, file: Path) -> None:
    """Read one bulk file into the draft."""
    table = read_table(file)
    _check_fields(table.column_names)
    reader = _Bulk(draft, file.name, table)
    if table.num_rows:
        draft.bulk.append((file.name, reader.queries()))
        reader.label()


def read_table(file: Path) -> Any:
    """Return the file's columns as they are."""
    try:
        return pq.read_table(file) if file.suffix == ".parquet" else _read_csv(file)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:80] if str(error) else "unreadable"
        raise Mistake(f"this is no {file.suffix[1:]} file ({reason})", "write it again") from None


def _read_csv(file: Path) -> Any:
    options = pa_csv.ConvertOptions(column_types=dict.fromkeys(FIELDS, pa.string()), strings_can_be_null=False)
    return pa_csv.read_csv(file, convert_options=options)


def _check_fields(names: list[str]) -> None:
    for name in names:
        if name not in FIELDS:
            raise Mistake(f"there is no field {show(name)}", did_you_mean(name, FIELDS, f"fields: {', '.join(FIELDS)}"))
    if len(set(names)) < len(names):
        raise Mistake("a column is there twice", "keep one of them")
    missing = [name for name in NEEDED if name not in names]
    if "select" not in names and "aggregate" not in names:
        missing.append("select")
    if missing:
        raise Mistake(f"{', '.join(missing)} is missing", f"fields: {', '.join(FIELDS)}")


class _Bulk:
    """A reader that parses every distinct value of a column once; rows refer to it by number."""

    def __init__(self, draft: Draft, file: str, table: Any) -> None:
        self.draft, self.file, self.table = draft, file, table
        self.rows = table.num_rows
        self.ids = _texts(table, "id")

    def queries(self) -> QueryTable:
        """Return the rows as queries; rows with problems are noted and come out as nonsense: the draft then fails."""
        self._check_ids()
        shapes, codes = self._shapes()
        return QueryTable(self.ids, self.ids, shapes, codes, self._windows())

    def label(self) -> None:
        """Note whose queries they are, where the file says so."""
        names = [name for name in ("owner", "tags") if name in self.table.column_names]
        columns = {name: _texts(self.table, name).to_pylist() for name in names}
        for row, id in enumerate(self.ids.to_pylist() if names else ()):
            self.draft.label(id, *(columns[name][row] if name in columns else None for name in ("owner", "tags")))

    def refuse(self, bad: Any, mistake: Callable[[int], Mistake]) -> None:
        """Note a problem for each of the rows (of the first hundred)."""
        for row in np.flatnonzero(bad)[:REPORTED].tolist():
            self.draft.refuse(at_line(self.file, row + 2), self.ids[row].as_py() or "", mistake(row))

    def _check_ids(self) -> None:
        good = pc.match_substring_regex(self.ids, "^[a-z][a-z0-9_]{0,62}$").to_numpy(zero_copy_only=False)
        newline = pc.match_substring(self.ids, "\n").to_numpy(zero_copy_only=False)
        bad = ~good | newline
        self.refuse(bad, lambda row: Mistake(f"{show(self.ids[row].as_py())} is no id", ID_RIGHT, "id"))

    def _understood(self, field: str, parse: Callable[[str], Any], otherwise: Any) -> tuple[list[Any], Any]:
        """Parse a column's distinct texts; return their meanings, and every row's number among them."""
        if field not in self.table.column_names:
            return [otherwise], np.zeros(self.rows, dtype=np.int64)
        texts, codes = _distinct(self.table, field)
        meanings: list[Any] = []
        refused: list[tuple[int, Mistake]] = []
        for code, text in enumerate(texts):
            try:
                meanings.append(parse(text) if text else otherwise)
            except Mistake as mistake:
                meanings.append(otherwise)
                refused.append((code, Mistake(mistake.wrong, mistake.right, mistake.field or field)))
        for code, refusal in refused[:REPORTED]:
            self.refuse(codes == code, lambda row, refusal=refusal: refusal)  # type: ignore[misc]
        return meanings, codes

    def _shapes(self) -> tuple[tuple[Shape, ...], Any]:
        streams, stream = self._understood("stream", self._stream, "")
        wheres, where = self._understood("where", expression, "")
        keys, key = self._understood("group_by", group_keys, ())
        selects, select = self._selects()
        first, codes = _combine((stream, where, key, select))
        shapes: list[Shape] = []
        refused = 0
        for number, row in enumerate(first.tolist()):
            parts = streams[stream[row]], wheres[where[row]], keys[key[row]], selects[select[row]]
            try:
                shapes.append(_shape(*parts))
            except Mistake as mistake:
                shapes.append(Shape("", "count", ("*",), "", (), ""))
                refused += 1
                if refused <= REPORTED:
                    self.refuse(codes == number, lambda row, mistake=mistake: mistake)  # type: ignore[misc]
        self._check_keys(shapes, codes)
        return tuple(shapes), codes.astype(np.int32)

    def _check_keys(self, shapes: list[Shape], codes: Any) -> None:
        names = {key for shape in shapes for key in shape.group_by}
        suspects = pc.is_in(self.ids, pa.array(sorted(names), pa.string())).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(suspects).tolist():
            try:
                check_keys([self.ids[row].as_py()], shapes[codes[row]].group_by)
            except Mistake as mistake:
                self.refuse(np.arange(self.rows) == row, lambda row, mistake=mistake: mistake)  # type: ignore[misc]

    def _stream(self, name: str) -> str:
        if name not in self.draft.streams and not self.draft.has_refused(name):
            raise unknown_stream(name, self.draft.streams)
        return name

    def _selects(self) -> tuple[list[Any], Any]:
        if "select" in self.table.column_names:
            return self._understood("select", parse_selected, None)
        aggregate = _texts(self.table, "aggregate")
        inner = _texts(self.table, "expression") if "expression" in self.table.column_names else None
        arguments = pa.array(["*"]).take(pa.array(np.zeros(self.rows, dtype=np.int8))) if inner is None else inner
        select = pc.binary_join_element_wise(aggregate, "(", arguments, ")", "")
        self.table = self.table.append_column("select", select)
        return self._understood("select", parse_selected, None)

    def _windows(self) -> Windows:
        range_, in_rows = self._lengths("range", None)
        slide, slide_rows = self._lengths("slide", (range_, in_rows))
        offset, offset_rows = self._lengths("offset", (np.zeros_like(range_), in_rows))
        mixed = (in_rows != slide_rows) | (in_rows != offset_rows)
        wrong = Mistake("time and rows are mixed", "give range, slide and offset all in time or all in rows", "range")
        self.refuse(mixed, lambda row: wrong)
        bad = (slide < 1) | (range_ < slide) | (np.abs(offset) >= slide) | (range_ > LONGEST)
        self.refuse(bad & ~mixed, lambda row: _window_mistake(int(range_[row]), int(slide[row]), int(offset[row])))
        return Windows(range_, slide, np.mod(offset, np.maximum(slide, 1)), in_rows)

    def _lengths(self, field: str, otherwise: tuple[Any, Any] | None) -> tuple[Any, Any]:
        """Return the ticks of a column, and whether they are rows; whole numbers are microseconds."""
        if field not in self.table.column_names and otherwise is not None:
            return otherwise
        column = self.table.column(field)
        if pa.types.is_integer(column.type) and column.null_count == 0:
            return column.to_numpy().astype(np.int64), np.zeros(self.rows, dtype=bool)
        encoded = _texts(self.table, field).dictionary_encode()
        plain = plain_durations(encoded.dictionary)
        if plain is not None:
            return plain[encoded.indices.to_numpy()], np.zeros(self.rows, dtype=bool)
        meanings, codes = self._understood(field, parse_length, None)
        ticks = np.array([meaning[0] if meaning else 0 for meaning in meanings], dtype=np.int64)[codes]
        rows = np.array([meaning[1] if meaning else False for meaning in meanings], dtype=bool)[codes]
        empty = np.array([meaning is None for meaning in meanings], dtype=bool)[codes]
        if not empty.any():
            return ticks, rows
        if otherwise is None:
            self.refuse(empty, lambda row: Mistake("it is missing", "give a duration, as in '1 minute'", field))
            return np.where(empty, 1, ticks), rows
        return np.where(empty, otherwise[0], ticks), np.where(empty, otherwise[1], rows)


def _shape(stream: str, where: str, keys: tuple[str, ...], selected: SelectedAggregate | None) -> Shape:
    if selected is None:
        raise Mistake("there is no aggregate", "select one, as in max(x)", "select")
    if not stream:
        raise Mistake("there is no stream", "name one", "stream")
    default_parsed_columns(keys, (selected,))
    check_keys((), keys)
    return Shape(stream, selected.aggregate, selected.arguments, where, keys, selected.name)


def plain_durations(texts: Any) -> Any:
    """Return the microseconds of texts like '90 seconds', all at once; None where one is written in another way.

    >>> plain_durations(pa.array(["90 seconds", "1 minute"])).tolist()
    [90000000, 60000000]
    """
    parts = pc.extract_regex(texts, r"^(?P<count>[0-9]{1,15}) (?P<unit>[a-z]+)$")
    if parts.null_count or not len(texts):
        return None
    units = parts.field("unit").dictionary_encode()
    lengths = np.array([NAMES.get(unit, 0) for unit in units.dictionary.to_pylist()], dtype=np.int64)
    length = lengths[units.indices.to_numpy()]
    count = parts.field("count").cast(pa.int64()).to_numpy()
    sure = (length > 0) & (count.astype(float) * length <= LONGEST)
    return count * length if sure.all() else None


def _window_mistake(range_: int, slide: int, offset: int) -> Mistake:
    try:
        make_window(range_, slide, offset)
    except Mistake as mistake:
        return mistake
    return Mistake("the window is too long", "the longest duration is 36525 days", "range")


def _texts(table: Any, field: str) -> Any:
    """Return a column as one array of texts without nulls."""
    column = table.column(field)
    if not pa.types.is_string(column.type):
        column = _cast(column, field)
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.string())
    return array.fill_null("") if array.null_count else array


def _cast(column: Any, field: str) -> Any:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        raise Mistake(f"the column {field} has the type {column.type}", "make it a column of texts", field) from None


def _distinct(table: Any, field: str) -> tuple[list[str], Any]:
    encoded = _texts(table, field).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _combine(columns: tuple[Any, ...]) -> tuple[Any, Any]:
    """Find the distinct combinations of several columns: return a row of each, and every row's number among them."""
    codes = columns[0]
    for column in columns[1:]:
        # numbered again at every step, so that products stay below rows * rows
        codes = _number_values(codes * (int(column.max()) + 1) + column)
    first = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first, codes


def _number_values(values: Any) -> Any:
    return pa.array(values).dictionary_encode().indices.to_numpy().astype(np.int64)
