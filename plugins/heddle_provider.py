"""What Airflow reads of Heddle as a provider, while Airflow is being imported: nothing of it can be imported here."""

from __future__ import annotations

from typing import Any

OPERATORS = "plugins.heddle_operators"
LINEAGE = "plugins.heddle_lineage.convert_asset"
LINKS = ("PlanLink", "AuditLink", "MlflowLink")


def get_provider_info() -> dict[str, Any]:
    """Return the operators' module, the links of their tasks, and what makes OpenLineage's datasets of assets.

    >>> get_provider_info()["extra-links"][0]
    'plugins.heddle_operators.PlanLink'
    """
    return {
        "package-name": "heddle",
        "name": "Heddle",
        "description": "Sliding-window aggregates, woven into shared trees on Spark.",
        "operators": [{"integration-name": "Heddle", "python-modules": [OPERATORS]}],
        "integrations": [{"integration-name": "Heddle", "external-doc-url": "", "tags": ["software"]}],
        "extra-links": [f"{OPERATORS}.{link}" for link in LINKS],
        "asset-uris": [{"schemes": ["heddle"], "handler": None, "to_openlineage_converter": LINEAGE}],
    }
