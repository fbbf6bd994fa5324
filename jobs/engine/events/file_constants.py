"""File constants: columns whose value is one for a whole file, from its folders or from its table."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa

from jobs.engine.program.program import Program
from jobs.engine.sources.contract import read_values
from optimizer.catalog.model.source_files import read_folders
from optimizer.catalog.spark_types.parquet import folder_value, spark_type
from optimizer.errors import HeddleError


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
