"""The example of docs/catalog.md is a catalog."""

from __future__ import annotations

from pathlib import Path

import yaml

from optimizer.catalog.read.load import load_catalog
from tests.optimizer.catalog.catalogs import write

PAGE = Path(__file__).parents[3] / "docs" / "catalog.md"


def test_the_pages_example_loads(tmp_path: Path) -> None:
    example = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    catalog = load_catalog(write(tmp_path, {"example.yaml": example}))
    assert set(catalog.statements) == {entry["id"] for entry in yaml.safe_load(example)["queries"]}
