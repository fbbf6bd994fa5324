"""`spark.read.format("heddle")`: published answers as a data source of Spark, the same rows as `read_results`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from jobs.engine.warehouse.read_answers import read_answers
from jobs.engine.warehouse.statements import PublishedFiles, published_files
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError

OPTIONS = ("catalog", "warehouse", "query")


class HeddleSource(DataSource):
    """The answers of one query: `catalog` is the folder it is in, `warehouse` where they are kept, `query` its id."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "heddle"

    def schema(self) -> StructType:
        """Return the columns and types of the query's SQL."""
        empty = self._published_files()._replace(files=())
        return from_arrow_schema(read_answers(empty).schema, prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of what is published now."""
        return HeddleReader(self._published_files())

    def _published_files(self) -> PublishedFiles:
        missing = [name for name in OPTIONS if not self.options.get(name)]
        if missing:
            raise HeddleError(f"format heddle: the option {missing[0]} is missing; it takes {', '.join(OPTIONS)}")
        catalog, warehouse, query = (str(self.options[name]) for name in OPTIONS)
        return published_files(warehouse, load_catalog(catalog), query)


class Part(InputPartition):
    """Files that one task reads."""

    def __init__(self, published: PublishedFiles) -> None:
        super().__init__(published)
        self.published = published


class HeddleReader(DataSourceReader):
    """Reads the published files of a statement, each by a task of its own where its rows are whole in every file."""

    def __init__(self, published: PublishedFiles) -> None:
        self.published = published

    def partitions(self) -> Sequence[InputPartition]:
        """Return what tasks read; several aggregates are put side by side, and
        revisions set against each other, by one task."""
        if len(self.published.statement.queries) > 1 or any(file.revised for file in self.published.files):
            return [Part(self.published)]
        return [Part(self.published._replace(files=(file,))) for file in self.published.files] or [Part(self.published)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some files."""
        assert isinstance(partition, Part)
        yield from read_answers(partition.published).to_batches()
