"""Workloads as catalogs: what is loaded is what was drawn, in YAML and in bulk, and Spark can run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.generate import Options, generate
from optimizer.catalog.read.load import load_catalog
from optimizer.errors import HeddleError
from optimizer.workloads import WORKLOADS, workload
from optimizer.workloads.workload import parse_tick, write_catalog


@pytest.mark.parametrize("readable", [1000, 0], ids=["yaml", "bulk"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_loaded_as_drawn(name: str, readable: int, tmp_path: Path) -> None:
    drawn = workload(name, 25, seed=5)
    file = write_catalog(drawn, tmp_path / "catalog", tick=1000, readable=readable)
    assert file.suffix == (".yaml" if readable else ".parquet")
    loaded = list(load_catalog(tmp_path / "catalog").queries)
    for number, (query, window) in enumerate(zip(loaded, drawn.windows(), strict=True)):
        shape = drawn.shape_of(number)
        assert (query.window.range, query.window.slide) == (window.range * 1000, window.slide * 1000)
        assert (query.stream, query.where, ",".join(query.group_by)) == (shape.stream, shape.where, shape.group_by)


def test_spark_answers_a_joined_workload(spark: SparkSession, tmp_path: Path) -> None:
    generate("trades", Options(3000, keys=5, rate=50), tmp_path / "trades")
    write_catalog(workload("trades_c", 6), tmp_path / "catalog", data="trades")
    catalog = load_catalog(tmp_path / "catalog")
    for source in (catalog.streams["trades"], *catalog.tables.values()):
        spark.read.format(source.format).load(source.path).createOrReplaceTempView(source.name)
    market = spark.sql(catalog.streams["market"].sql)
    assert market.count() == 3000
    market.createOrReplaceTempView("market")
    assert all(spark.sql(catalog.statements[query.statement].sql).columns for query in catalog.queries)


def test_mistakes_get_one_line(tmp_path: Path) -> None:
    drawn = workload("zipf_slides", 10)
    with pytest.raises(HeddleError, match="give a shorter --tick"):
        write_catalog(drawn, tmp_path / "long", tick=parse_tick("52 weeks"))
    write_catalog(drawn, tmp_path / "catalog")
    with pytest.raises(HeddleError, match="is not empty"):
        write_catalog(drawn, tmp_path / "catalog")
    with pytest.raises(HeddleError, match="name a folder that can be written"):
        write_catalog(drawn, tmp_path / "catalog" / "streams.yaml")
    for text in ("soon", "0 seconds", "1 month"):
        with pytest.raises(HeddleError, match="--tick"):
            parse_tick(text)
