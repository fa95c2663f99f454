"""OpenLineage's column lineage of a step, and that its own client takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _people import people
from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet
from openlineage.client.serde import Serde

from provspark.airflow.events import events_from_manifest, events_from_store
from provspark.index_store.store.store import Store


def facet(event: Any) -> ColumnLineageDatasetFacet | None:
    (output,) = event.outputs
    return output.facets.get("columnLineage")


def told(fields: Any) -> set[tuple[str, str, str]]:
    return {(f.field, t.type, t.subtype) for f in fields for t in f.transformations}


def test_each_column_tells_its_sources_and_the_data_set_what_decides(tmp_path: Path) -> None:
    url = people(tmp_path)
    clean, report, copy = (e for e in events_from_store(url) if e.outputs)
    made = facet(clean)
    assert made is not None
    assert {name: told(f.inputFields) for name, f in made.fields.items()} == {
        "name": {("name", "DIRECT", "IDENTITY")},
        "city": {("city", "DIRECT", "IDENTITY")},
        "band": {("age", "INDIRECT", "CONDITIONAL"), ("name", "DIRECT", "TRANSFORMATION")},
    }
    assert told(made.dataset) == {("age", "INDIRECT", "FILTER")}
    assert {(f.namespace, f.name) for f in made.dataset} == {("file", str(tmp_path / "people.csv"))}
    counted = facet(report)
    assert counted is not None
    assert list(counted.fields) == ["city", "first"]
    assert told(counted.dataset) == {("city", "INDIRECT", "GROUP_BY")}
    assert facet(copy) is None
    bare = events_from_manifest(url, Store.open(url).manifests()[0])[1]
    assert facet(bare) is None


def test_the_client_serialises_it_as_the_standard_says(tmp_path: Path) -> None:
    event = next(e for e in events_from_store(people(tmp_path)) if e.outputs)
    sent = json.loads(Serde.to_json(event))["outputs"][0]["facets"]["columnLineage"]
    assert sent["_schemaURL"] == ColumnLineageDatasetFacet._get_schema()
    assert sent["fields"]["band"]["inputFields"][0]["transformations"] == [
        {"type": "INDIRECT", "subtype": "CONDITIONAL", "masking": False}
    ]
