"""Tables of a database, one per statement, by SQLAlchemy; an upsert and a table of batches in one transaction.

A row is told apart by its keys, be they null, and its window, so that a row that comes again takes the place of the one
that is there. A window is two columns, its start and its end; arrays are JSON. SQLite takes a NaN for a null: in a key
it is a text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from jobs.host.stops import step
from jobs.sinks.contract import Place, Rows, SinkDownError, SinkTable, flat_keys, refuse_columns, refuse_stranger
from optimizer.errors import HeddleError

BATCHES = "heddle_batches"
INSERTED_AT_ONCE = 10_000  # rows
DIALECTS: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def open_sink(place: Place) -> SqlSink:
    """Open the database: a file of SQLite, or what the url says."""
    try:
        url = sa.engine.make_url(place.url or f"sqlite:///{place.sink.path}")
        engine = sa.create_engine(url, hide_parameters=True)
    except Exception:  # its text would show the url
        raise HeddleError(f"sink {place.sink.name}: {place.sink.url} holds no address of a database") from None
    if engine.dialect.name not in DIALECTS:
        raise HeddleError(f"sink {place.sink.name}: {engine.dialect.name} is not one of {', '.join(DIALECTS)}")
    return SqlSink(place, engine)


class SqlSink:
    """A schema of a database."""

    def __init__(self, place: Place, engine: sa.Engine) -> None:
        self.place, self.engine = place, engine
        self.metadata = sa.MetaData(schema=place.sink.namespace or None)
        self.batches = sa.Table(
            BATCHES,
            self.metadata,
            sa.Column("stream", sa.Text, primary_key=True),
            sa.Column("publication", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("batch", sa.BigInteger, nullable=False),
            sa.Column("warehouse", sa.Text, nullable=False),
        )

    def check(self, tables: Sequence[SinkTable]) -> None:
        """Refuse tables with other columns, or with rows of another warehouse."""
        with self._reached():
            inspector = sa.inspect(self.engine)
            there = set(inspector.get_table_names(schema=self.metadata.schema))
            for table in tables:
                if table.name in there:
                    existing = inspector.get_columns(table.name, schema=self.metadata.schema)
                    expected = [self._text(column.name, column.type) for column in self._table(table).columns]
                    refuse_columns(
                        self.place, table, [self._text(one["name"], one["type"]) for one in existing], expected
                    )
            if BATCHES in there:
                with self.engine.connect() as connection:
                    own = sa.select(self.batches.c.warehouse).where(self.batches.c.stream == self.place.stream)
                    warehouses = set(connection.execute(own).scalars())
                if warehouses - {self.place.warehouse}:
                    raise refuse_stranger(self.place, "the database")

    def write(self, number: int, batch: int, rows: Rows) -> None:
        """Write rows and batch by one transaction."""
        entry = {"stream": self.place.stream, "publication": number, "batch": batch, "warehouse": self.place.warehouse}
        with self._reached():
            self.metadata.create_all(self.engine, [self.batches])
            with self.engine.begin() as connection:
                own = (self.batches.c.stream == self.place.stream) & (self.batches.c.publication >= number)
                if connection.execute(sa.select(self.batches.c.batch).where(own)).first():
                    return
                connection.execute(
                    sa.insert(self.batches).values(entry)
                )  # first: a second writer waits for it, and fails
                for rows_of_table in rows:
                    if rows_of_table.replaced is not None:
                        self._delete(connection, rows_of_table.table, rows_of_table.replaced)
                    if rows_of_table.answers.num_rows:
                        self._upsert(connection, rows_of_table.table, rows_of_table.plain)
                        step("sink written")
            step("sink committed")

    def _upsert(self, connection: sa.Connection, table: SinkTable, answers: pa.Table) -> None:
        target = self._table(table)
        target.create(connection, checkfirst=True)
        flat = flatten_window(answers)
        statement = DIALECTS[self.engine.dialect.name](target)
        if table.key:
            columns = [column for column in target.columns if column.name not in self._key(table)]
            changed = {column.key: statement.excluded[column.key] for column in columns}
            statement = statement.on_conflict_do_update(index_elements=self._conflict(target, table), set_=changed)
        places = {name: _place(flat.schema.names.index(name)) for name in self._key(table)}
        flat = flat.rename_columns([_place(number) for number in range(flat.num_columns)])
        for part in self._parts(flat, list(places.values())):
            connection.execute(statement, list(part))

    def _delete(self, connection: sa.Connection, table: SinkTable, replaced: pa.Table) -> None:
        """Delete the rows of some keys: what takes their place may fail the statement's condition."""
        target = self._table(table)
        target.create(connection, checkfirst=True)
        keys = [f"key_{number}" for number in range(len(table.key))]
        columns = [_column(target, name) for name in self._key(table)]
        same = [column.is_not_distinct_from(sa.bindparam(key)) for column, key in zip(columns, keys, strict=True)]
        flat = flat_keys(table, replaced).rename_columns(keys)
        for part in self._parts(flat, keys):
            connection.execute(sa.delete(target).where(*same), list(part))

    def _parts(self, flat: pa.Table, key: Sequence[str]) -> Iterator[Iterator[dict[str, Any]]]:
        """Yield rows as the driver takes them, in parts; SQLite takes a NaN for a null, and gets a text in a key."""
        lite = self.engine.dialect.name == "sqlite"
        for part in flat.to_batches(INSERTED_AT_ONCE):
            yield _values(part, lite, key if lite else ())

    def _table(self, table: SinkTable) -> sa.Table:
        name = f"{self.metadata.schema}.{table.name}" if self.metadata.schema else table.name
        if name in self.metadata.tables:
            return self.metadata.tables[name]
        flat = flatten_window(table.schema.empty_table()).schema
        lite = self.engine.dialect.name == "sqlite"
        own = self._key(table) if lite else []
        kinds = {f.name: (LITE_KEYS if f.name in own else {}).get(f.type) or _type(f.type, lite) for f in flat}
        columns = (sa.Column(name, kind, key=_place(n)) for n, (name, kind) in enumerate(kinds.items()))
        target = sa.Table(table.name, self.metadata, *columns)
        if table.key:
            # Postgres (15 and later) can be told that a null equals a null; in SQLite an expression says so
            key = self._conflict(target, table)
            sa.Index(f"{table.name}_row", *key, unique=True, postgresql_nulls_not_distinct=True)
        return target

    def _key(self, table: SinkTable) -> list[str]:
        """Return the columns of the key, of a window its start."""
        names = flatten_window(table.schema.empty_table()).schema.names
        return [name if name in names else part_name(name, "start", table.schema.names) for name in table.key]

    def _conflict(self, target: sa.Table, table: SinkTable) -> list[Any]:
        columns = [_column(target, name) for name in self._key(table)]
        return [_null_as_value(column) for column in columns] if self.engine.dialect.name == "sqlite" else columns

    def _text(self, name: str, kind: Any) -> str:
        return f"{name} {kind.compile(dialect=self.engine.dialect)}"

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Say that the database is down in a line of its driver, which shows no password."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
            password = self.engine.url.password
            raise SinkDownError(reason.replace(str(password), "***") if password else reason) from None


def _place(number: int) -> str:
    """Name a column for SQLAlchemy, which binds the values of a column `a b` to one that is called `a_b`."""
    return f"c{number}"


def _column(target: sa.Table, name: str) -> sa.Column[Any]:
    return next(column for column in target.columns if column.name == name)


def part_name(window: str, part: str, names: Sequence[str]) -> str:
    """Name the column of a window's start or end beside a statement's own columns.

    >>> part_name("window", "start", ["k", "window"]), part_name("w", "end", ["w", "w_end"])
    ('window_start', 'w.end')
    """
    return f"{window}_{part}" if f"{window}_{part}" not in names else f"{window}.{part}"


def flatten_window(table: pa.Table) -> pa.Table:
    """Return a table whose structs are columns: a window's are its start and its end."""
    columns: dict[str, Any] = {}
    for field in table.schema:
        if pa.types.is_struct(field.type) and field.type.names == ["start", "end"]:
            for part in ("start", "end"):
                columns[part_name(field.name, part, table.schema.names)] = pc.struct_field(table[field.name], part)
        else:
            columns[field.name] = table[field.name]
    return pa.table(columns)


def _null_as_value(column: sa.Column[Any]) -> Any:
    """Return an expression that is unlike every value of a column where it is null: of another type than they are."""
    instead = "'null'" if isinstance(column.type, sa.LargeBinary) else "x''"
    return sa.func.ifnull(column, sa.literal_column(instead))


def _type(kind: pa.DataType, lite: bool) -> Any:
    """Return the type of a column; SQLite has no decimals and no zones: decimals are texts, times are in UTC."""
    if pa.types.is_decimal(kind):
        return sa.Text() if lite else sa.Numeric(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return sa.DateTime(timezone=bool(kind.tz) and not lite)
    return next((make() for is_kind, make in TYPES if is_kind(kind)), sa.Text())


class KeyOfFloats(sa.types.UserDefinedType[Any]):
    """A column of floats in a key of SQLite: its NaNs are texts, which a type of SQLAlchemy's would make NaNs again."""

    cache_ok = True

    def __init__(self, name: str) -> None:
        self.name = name

    def get_col_spec(self, **_: Any) -> str:
        """Return what the column is called in SQL."""
        return self.name


LITE_KEYS = {pa.float64(): KeyOfFloats("DOUBLE"), pa.float32(): KeyOfFloats("REAL")}
TYPES: tuple[tuple[Any, Any], ...] = (
    (pa.types.is_boolean, sa.Boolean),
    (pa.types.is_int64, sa.BigInteger),
    (pa.types.is_int32, sa.Integer),
    (pa.types.is_integer, sa.SmallInteger),
    (pa.types.is_float32, sa.REAL),
    (pa.types.is_floating, sa.Double),
    (pa.types.is_date, sa.Date),
    (pa.types.is_binary, sa.LargeBinary),
)


def _values(part: pa.RecordBatch, lite: bool, key: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield rows as the driver takes them; a NaN in a column of the key is a text."""
    columns = []
    for field, column in zip(part.schema, part.columns, strict=True):
        values = column.to_pylist()
        if field.name in key and pa.types.is_floating(field.type):
            values = ["NaN" if value is not None and math.isnan(value) else value for value in values]
        if pa.types.is_nested(field.type):
            values = [None if value is None else json.dumps(value, default=str) for value in values]
        elif lite and pa.types.is_decimal(field.type):
            values = [None if value is None else str(value) for value in values]
        columns.append(values)
    names = part.schema.names
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
