"""Run as it stands by a plain Spark, a rewritten plan gives the rows of the user's own statements."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from optimizer.stream_planning import plan_stream
from tests.rewrite.answers import assert_same_answers
from tests.rewrite.catalogs import random_catalog


@pytest.mark.parametrize(
    ("seed", "strategy"), [(1, "factor_windows"), (2, "cascade"), (3, "shared"), (4, "tri_weave"), (5, "no_share")]
)
def test_random_catalogs(spark: SparkSession, tmp_path: Path, seed: int, strategy: str) -> None:
    catalog = random_catalog(tmp_path / "catalog", seed)
    script = assert_same_answers(spark, catalog, plan_stream(catalog, "odd", 10_000.0, strategy))
    assert len(script.answers) == len(catalog.statements)
