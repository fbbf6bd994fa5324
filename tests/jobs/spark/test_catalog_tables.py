"""Streams that are tables of the catalog of Spark's session: Spark's answers, appends only, one line for the rest."""

from __future__ import annotations

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

SQL = "SELECT k, window, sum(x) AS total FROM events GROUP BY k, window(ts, '20 seconds', '5 seconds')"


def catalog_of(folder: Path, name: str) -> Catalog:
    (folder / "catalog").mkdir(exist_ok=True)
    stream = {"source": {"format": "table", "name": name}, "time": "ts", "lateness": "10 seconds"}
    document: dict[str, Any] = {"streams": {"events": stream}, "queries": [{"id": "total", "sql": SQL}]}
    (folder / "catalog" / "c.yaml").write_text(yaml.dump(document))
    return load_catalog(folder / "catalog")


@pytest.mark.spark
def test_a_table_of_the_catalog_gives_sparks_rows(tmp_path: Path, spark: SparkSession) -> None:
    """A partitioned table that grows between the batches; its audit reads the same files."""
    warehouse, catalog = str(tmp_path / "w"), catalog_of(tmp_path, "heddle_events")
    plan = plan_stream(catalog, "events", 10.0)

    def run(files: int = 0) -> int:
        return evaluate(spark, catalog, plan, warehouse, Options(files_per_batch=files, buckets=2)).events

    def append(table: pa.Table) -> None:
        spark.createDataFrame(table).createOrReplaceTempView("more")
        spark.sql("INSERT INTO heddle_events SELECT ts, x, k FROM more")

    with pytest.raises(HeddleError, match="Spark's session has no such table; create it or mend `name`"):
        run()
    folder = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:"))
    assert not folder.exists() or list(folder.iterdir())
    spark.sql(
        "CREATE TABLE heddle_events (ts TIMESTAMP, x INT, k STRING) USING parquet PARTITIONED BY (k) "
        f"LOCATION '{tmp_path}/the table'"
    )
    try:
        assert run() == 0
        append(rows(0))
        assert recent_by(lambda: spark, catalog, "events") is not None
        assert run() == 40
        append(rows(1))
        append(rows(2))
        assert run(1) == 80
        assert run() == 0
        expected = spark.sql(SQL.replace("events", "heddle_events")).where("window.end <= '1970-01-01 00:00:15'")
        ours = read_results(spark, warehouse, catalog, "total").where("window.end <= '1970-01-01 00:00:15'")
        assert rows_of(ours) == rows_of(expected)
        assert len(rows_of(ours)) > 5
        assert check(spark, catalog, "events", warehouse, Choice(everything=True)).audit.passed
        with pytest.raises(HeddleError, match="which only Spark reads; leave out --local"):
            evaluate_local(catalog, plan, warehouse)
        spark.sql("CREATE TEMPORARY VIEW heddle_view AS SELECT * FROM heddle_events")
        view = catalog_of(tmp_path, "heddle_view")
        with pytest.raises(HeddleError, match="is no table of files"):
            evaluate(spark, view, plan_stream(view, "events", 10.0), str(tmp_path / "v"))
        spark.sql("INSERT OVERWRITE heddle_events SELECT ts, x, k FROM more")
        with pytest.raises(HeddleError, match="rows were deleted or written again, and a stream takes appends only"):
            run()
    finally:
        for view in ("heddle_view", "more"):
            spark.catalog.dropTempView(view)
        spark.sql("DROP TABLE IF EXISTS heddle_events")
