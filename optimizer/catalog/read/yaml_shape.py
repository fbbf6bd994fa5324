"""The shape of a catalog's YAML. What the texts in it mean is checked afterwards."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Unknown fields are mistakes, and a list is not a text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceModel(Model):
    """source: {format, path, options} or {sql}; some formats name another place than a path."""

    format: str = "parquet"
    path: str = ""
    table: str = ""
    name: str = ""
    sql: str = ""
    options: dict[str, str] = Field(default_factory=dict)


class SinkModel(Model):
    """One entry of a stream's sinks; which fields a format has is checked afterwards."""

    format: str
    path: str = ""
    url: str = ""
    catalog: str = ""
    namespace: str = ""


class StreamModel(Model):
    """One entry of streams."""

    source: SourceModel
    time: str
    lateness: str = "0 seconds"
    idle: str | None = None
    corrections: str | None = None
    zone: str = "UTC"
    expect: list[object] | None = None
    sinks: dict[str, SinkModel] = Field(default_factory=dict)


class TableModel(Model):
    """One entry of tables."""

    source: SourceModel


class LabelledModel(Model):
    """Whose a query is, what it is about, what is expected of its answers, and which of them raise an alert."""

    owner: str | None = None
    tags: str | list[str] | None = None
    expect: list[object] | None = None
    alert: str | None = None


class QueryModel(LabelledModel):
    """One entry of queries in columns."""

    id: str
    stream: str
    select: str | list[str]
    range: str
    slide: str | None = None
    offset: str | None = None
    where: str | None = None
    group_by: str | list[str] | None = None
    having: str | None = None


class SqlQueryModel(LabelledModel):
    """One entry of queries in SQL."""

    id: str
    sql: str


class FileModel(Model):
    """The top level of a file; its entries are checked one by one."""

    streams: dict[str, object] | None = None
    tables: dict[str, object] | None = None
    queries: list[object] | None = None
