"""Streams that are tables of the catalog of Spark's session: Spark's answers, appends only, one line for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyspark.sql import SparkSession

from expectations.check import Choice, check
from jobs.measure.stream import recent_by
from jobs.results import read_results
from jobs.runs.in_process import evaluate_local
from jobs.runs.on_spark import evaluate
from jobs.runs.request import Options
from optimizer.catalog.model.catalog import Catalog
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.planning.stream import plan_stream
from tests.worlds.sources import rows_of
from tests.worlds.tables import rows

ENDED = "window.end <= '1970-01-01 00:00:15'"
SQL = "SELECT k, window, sum(x) AS total FROM events GROUP BY k, window(ts, '20 seconds', '5 seconds')"


def catalog_of(folder: Path, name: str) -> Catalog:
    (folder / "catalog").mkdir(exist_ok=True)
    stream = {"source": {"format": "table", "name": name}, "time": "ts", "lateness": "10 seconds"}
    document: dict[str, Any] = {"streams": {"events": stream}, "queries": [{"id": "total", "sql": SQL}]}
    (folder / "catalog" / "c.yaml").write_text(yaml.dump(document))
    return load_catalog(folder / "catalog")


@dataclass(frozen=True)
class SparkTable:
    """A partitioned table of Spark's catalog, and the stream that reads it."""

    spark: SparkSession
    folder: Path
    catalog: Catalog

    @property
    def warehouse(self) -> str:
        """Where the stream is evaluated."""
        return str(self.folder / "w")

    def run(self, files: int = 0) -> int:
        """Evaluate what is new, and return how many events that was."""
        options = Options(files_per_batch=files, buckets=2)
        plan = plan_stream(self.catalog, "events", 10.0)
        return evaluate(self.spark, self.catalog, plan, self.warehouse, options).events

    def create(self) -> None:
        """Create the table in a folder whose name needs quoting."""
        self.spark.sql(
            "CREATE TABLE heddle_events (ts TIMESTAMP, x INT, k STRING) USING parquet PARTITIONED BY (k) "
            f"LOCATION '{self.folder}/the table'"
        )

    def append(self, table: pa.Table) -> None:
        """Add rows."""
        self.spark.createDataFrame(table).createOrReplaceTempView("more")
        self.spark.sql("INSERT INTO heddle_events SELECT ts, x, k FROM more")

    def assert_rows_and_audit(self) -> None:
        """The rows are those of Spark's own statement, and pass their audit."""
        expected = self.spark.sql(SQL.replace("events", "heddle_events")).where(ENDED)
        ours = read_results(self.spark, self.warehouse, self.catalog, "total").where(ENDED)
        assert rows_of(ours) == rows_of(expected)
        assert len(rows_of(ours)) > 5
        assert check(self.spark, self.catalog, "events", self.warehouse, Choice(everything=True)).audit.passed


@pytest.mark.spark
def test_a_table_of_the_catalog_gives_sparks_rows(tmp_path: Path, spark: SparkSession) -> None:
    """A partitioned table that grows between the batches; its audit reads the same files."""
    table = SparkTable(spark, tmp_path, catalog_of(tmp_path, "heddle_events"))
    with pytest.raises(HeddleError, match="Spark's session has no such table; create it or mend `name`"):
        table.run()
    folder = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:"))
    assert not folder.exists() or list(folder.iterdir())
    table.create()
    try:
        assert table.run() == 0
        table.append(rows(0))
        assert recent_by(lambda: spark, table.catalog, "events") is not None
        assert table.run() == 40
        table.append(rows(1))
        table.append(rows(2))
        assert table.run(1) == 80
        assert table.run() == 0
        table.assert_rows_and_audit()
        with pytest.raises(HeddleError, match="which only Spark reads; leave out --local"):
            evaluate_local(table.catalog, plan_stream(table.catalog, "events", 10.0), table.warehouse)
        spark.sql("CREATE TEMPORARY VIEW heddle_view AS SELECT * FROM heddle_events")
        view = catalog_of(tmp_path, "heddle_view")
        with pytest.raises(HeddleError, match="is no table of files"):
            evaluate(spark, view, plan_stream(view, "events", 10.0), str(tmp_path / "v"))
        spark.sql("INSERT OVERWRITE heddle_events SELECT ts, x, k FROM more")
        with pytest.raises(HeddleError, match="rows were deleted or written again, and a stream takes appends only"):
            table.run()
    finally:
        for view in ("heddle_view", "more"):
            spark.catalog.dropTempView(view)
        spark.sql("DROP TABLE IF EXISTS heddle_events")
