"""What Airflow reads of Heddle as a provider: its operators, and OpenLineage's datasets of its streams.

Airflow imports this module while it is being imported itself, and whenever it makes an asset: whatever is needed is
imported only when a dataset is wanted. Its OpenLineage provider, where a team has installed it, asks for the datasets,
with the columns that every answer is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from optimizer.catalog.model.catalog import Catalog
    from optimizer.catalog.model.query import Stream

OPERATORS = "plugins.heddle_operators"
LINEAGE = "plugins.heddle_provider.convert_asset"
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


NAMESPACE = "heddle"
LISTED = 500  # statements whose columns go with a dataset
Inputs = dict[str, tuple[str, ...]]  # columns of the events that a column of the results is made of


def convert_asset(asset: Any, lineage_context: Any) -> Any:
    """Return the dataset of an asset heddle://events/STREAM or heddle://results/STREAM; None of others."""
    from airflow.providers.common.compat.openlineage.facet import Dataset

    from jobs.host.settings import settings
    from optimizer.catalog.read.load import load_catalog

    kind, stream = split_uri(asset.uri)
    if kind not in ("events", "results"):
        return None
    catalog = load_catalog(settings().catalog)
    if stream not in catalog.streams:
        return None
    events = events_place(catalog.streams[stream])
    if kind == "events":
        return Dataset(*events)
    inputs = dict(columns_of_results(catalog, stream))
    return Dataset(NAMESPACE, f"results/{stream}", facets=_facets(inputs, *events) if inputs else {})


def split_uri(uri: str) -> tuple[str, str]:
    """Return what an asset is of, and its stream.

    >>> split_uri("heddle://results/sensors")
    ('results', 'sensors')
    """
    parts = urlsplit(uri)
    return parts.netloc, parts.path.strip("/")


def events_place(stream: Stream) -> tuple[str, str]:
    """Return namespace and name of a stream's events, as OpenLineage names files; others are named by the stream."""
    parts = urlsplit(stream.path)
    if stream.sql or not parts.path:
        return NAMESPACE, f"events/{stream.name}"
    return (f"{parts.scheme}://{parts.netloc}", parts.path.strip("/")) if parts.scheme else ("file", parts.path)


def columns_of_results(catalog: Catalog, stream: str) -> Iterator[tuple[str, Inputs]]:
    """Yield the statements of a stream with their columns; none where there are too many to be listed."""
    from optimizer.catalog.sql.expressions import columns_read

    ids = dict.fromkeys(catalog.of_stream(stream).statements.to_pylist())
    for id in ids if len(ids) <= LISTED else ():
        columns: Inputs = {}
        for column in catalog.statements[id].columns:
            if column.kind == "answer":
                query = catalog.query(column.source)
                texts = [text for text in (*query.arguments, query.where) if text not in ("", "*")]
                columns[column.name] = tuple(sorted({name for text in texts for name in columns_read(text)}))
            else:
                columns[column.name] = (catalog.streams[stream].time if column.kind == "window" else column.source,)
        yield id, columns


def _facets(statements: dict[str, Inputs], namespace: str, name: str) -> dict[str, Any]:
    """Return the columns, each named by its statement, and what of the events each is made of."""
    from airflow.providers.common.compat.openlineage import facet

    columns = {f"{id}.{column}": read for id, inputs in statements.items() for column, read in inputs.items()}
    lineage = {
        column: facet.Fields(inputFields=[facet.InputField(namespace, name, each) for each in read])
        for column, read in columns.items()
    }
    return {
        "schema": facet.SchemaDatasetFacet(fields=[facet.SchemaDatasetFacetFields(name=column) for column in columns]),
        "columnLineage": facet.ColumnLineageDatasetFacet(fields=lineage),
    }
