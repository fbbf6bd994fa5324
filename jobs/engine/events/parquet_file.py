"""One Parquet file: opened, read at once where it is small, and its columns as Spark sees them.

Constants are columns whose value is one for a whole file: from its folders, or from its table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.engine.program.program import Program
from jobs.engine.program.spark_types import INSTANT
from jobs.engine.sources.contract import read_values
from jobs.host.storage import Storage
from optimizer.catalog.model.source_files import read_folders
from optimizer.catalog.spark_types.parquet import folder_value, int96_columns, names_alike, spark_type
from optimizer.errors import HeddleError

MAGIC, ARROW_SCHEMA = b"PAR1", b"ARROW:schema"  # of the format; the key that Arrow's own schema has in a footer
WRITERS = ("parquet-cpp", "parquet-mr", "parquet-rs", "delta-rs", "DuckDB", "Polars")


@lru_cache(maxsize=256)
def _storage_of(folder: str) -> Storage:
    return Storage(folder)


def open_parquet(
    path: str, dictionaries: Sequence[str] = (), footer: pq.FileMetaData | None = None, content: pa.Buffer | None = None
) -> pq.ParquetFile:
    """Open a Parquet file, whose footer or content may be known, or raise one line that says why it cannot be read."""
    folder, _, name = path.rpartition("/")
    storage = _storage_of(folder)
    source = storage.path(name) if content is None else pa.BufferReader(content)
    system = storage.filesystem if content is None else None
    try:
        file = _open(source, system, footer, dictionaries)
        if footer is None and _may_misread(file):
            return _open(source, system, _footer_without_schema(source, system), dictionaries)
        return file
    except (OSError, pa.ArrowException) as error:
        raise unreadable_error(path, error) from None


def _open(source: Any, system: Any, footer: pq.FileMetaData | None, dictionaries: Sequence[str]) -> pq.ParquetFile:
    return pq.ParquetFile(
        source,
        filesystem=system,
        metadata=footer,
        read_dictionary=list(dictionaries),
        coerce_int96_timestamp_unit="us",
    )


def _may_misread(file: pq.ParquetFile) -> bool:
    """Return whether Arrow reads dictionaries as they are, since the file says so, and some may have a value twice."""
    if writes_values_once(file.metadata.created_by):
        return False
    return any(pa.types.is_dictionary(kind) for kind in file.schema_arrow.types)


def _footer_without_schema(source: Any, system: Any) -> pq.FileMetaData:
    """Return a file's footer without the schema in Arrow's words: Spark does not read it, either."""
    file = source if system is None else system.open_input_file(source)
    end = file.size() - 8
    length = int.from_bytes(file.read_at(4, end), "little")
    footer = file.read_at(length + 8, end - length)
    return pq.read_metadata(pa.BufferReader(MAGIC + footer.replace(ARROW_SCHEMA, ARROW_SCHEMA.lower())))


def read_whole(path: str) -> pa.Buffer:
    """Read a small file at once, instead of first its end, then its footer, then every column."""
    folder, _, name = path.rpartition("/")
    storage = _storage_of(folder)
    try:
        with storage.filesystem.open_input_file(storage.path(name)) as file:
            return file.read_buffer()
    except (OSError, pa.ArrowException) as error:
        raise unreadable_error(path, error) from None


def event_schema(path: str, file: pq.ParquetFile) -> pa.Schema:
    """Return the columns of an open file as Spark reads them; refuse those that are one to Spark, but two here."""
    schema = file.schema_arrow
    alike = names_alike(schema.names)
    if alike:
        raise HeddleError(f"{path}: the columns {' and '.join(alike)} are one to Spark; rename one of them")
    for name, kind in view_types(schema).items():
        schema = schema.set(schema.get_field_index(name), schema.field(name).with_type(kind))
    for name in int96_columns(file):
        schema = schema.set(schema.get_field_index(name), pa.field(name, INSTANT))
    return schema


def view_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the columns that Arrow reads as views, since their writer had them so, and the types they are cast to."""
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    return {field.name: plain[field.type] for field in schema if field.type in plain}


def unreadable_error(path: str, error: Exception) -> HeddleError:
    """Return the error, one line, for a file that cannot be read."""
    reason = str(error).splitlines()[0][:160]
    return HeddleError(f"{path}: cannot be read as Parquet ({reason}); mend or remove the file, then run again")


def writes_values_once(writer: str) -> bool:
    """Return whether a writer's dictionaries are known to have no value twice: Arrow would number their values wrongly.

    >>> writes_values_once("parquet-mr version 1.15.2 (build 1)"), writes_values_once("")
    (True, False)
    """
    return writer.startswith(WRITERS)


def folder_constants(path: str, program: Program, needed: Collection[str]) -> dict[str, pa.Scalar]:
    """Return the columns that a file's folders name, as far as the program reads them, in the types of all folders."""
    root = f"{program.root.rstrip('/')}/"
    if not program.root or not path.startswith(root) or "=" not in path[len(root) :].rpartition("/")[0]:
        return {}
    constants = {}
    for name, value in read_folders(path[len(root) :]).values.items():
        kind = program.columns.get(name)
        if name in needed and kind is not None:
            try:
                constants[name] = pa.scalar(folder_value(value, spark_type(kind)), kind)
            except (ValueError, pa.ArrowInvalid):
                raise HeddleError(
                    f"{path}: its folder says {name}={value}, which is no {kind}, as it was in the folders before"
                ) from None
    return constants


def table_constants(path: str, values_text: str, program: Program, needed: Collection[str]) -> dict[str, pa.Scalar]:
    """Return the columns whose values a table keeps beside a file, as far as the program reads them."""
    values = read_values(values_text)
    constants = {}
    for name in values.keys() & set(needed):
        kind = program.columns.get(name, pa.string())
        try:
            constants[name] = pa.scalar(values[name], pa.string()).cast(kind)
        except pa.ArrowInvalid:
            raise HeddleError(f"{path}: its table says {name} = {values[name]}, which is no {kind}") from None
    return constants


def with_constants(table: pa.Table, constants: Mapping[str, pa.Scalar]) -> pa.Table:
    """Return a table with such columns."""
    for name, value in constants.items():
        table = table.append_column(name, pa.repeat(value, table.num_rows))
    return table
