"""OpenLineage's standard column-lineage facet, computed from the column dependencies of a write."""

from __future__ import annotations

from openlineage.client.generated.column_lineage_dataset import (
    ColumnLineageDatasetFacet,
    Fields,
    InputField,
    Transformation,
)

from provspark.airflow.facet import PRODUCER
from provspark.index_store.query.bits import ROWS, named
from provspark.index_store.query.column_maps import column_map, names_of
from provspark.index_store.query.nodes import WriteNode
from provspark.model.operations import Dependence

__all__ = ["column_lineage"]

_DIRECT = ("identity", "transformation", "aggregation")
_Source = tuple[str, str, str]
"""Namespace, name, column."""


def column_lineage(node: WriteNode) -> ColumnLineageDatasetFacet | None:
    """Return the input columns that each output column came from, and those that decided which rows there are.

    Returns
    -------
    ColumnLineageDatasetFacet or None
        None if the write is untracked, its operations are not stored, or no column depends on an input column.
    """
    if node.write.coverage == "untracked" or not column_map(node).known:
        return None
    outputs = names_of(node.output)
    fields: dict[str, dict[_Source, set[Dependence]]] = {}
    whole: dict[_Source, set[Dependence]] = {}
    for axis, bits in column_map(node).axes.items():
        read = node.inputs[node.write.axes[axis].version]
        columns, dataset = names_of(read), read.version.dataset
        for out, src, may, *_ in bits:
            kinds = {dependence for _, dependence, _ in named(may)}
            if src == ROWS or not kinds:
                continue
            by_source = whole if out == ROWS else fields.setdefault(outputs[out - 1], {})
            by_source.setdefault((dataset.namespace, dataset.name, columns[src - 1]), set()).update(kinds)
    if not fields and not whole:
        return None
    return ColumnLineageDatasetFacet(
        {name: Fields(_inputs(fields[name])) for name in outputs if name in fields},
        dataset=_inputs(whole),
        producer=PRODUCER,
    )


def _inputs(sources: dict[_Source, set[Dependence]]) -> list[InputField]:
    return [
        InputField(namespace, name, column, [_transformation(d) for d in sorted(sources[namespace, name, column])])
        for namespace, name, column in sorted(sources)
    ]


def _transformation(dependence: Dependence) -> Transformation:
    kind = "DIRECT" if dependence in _DIRECT else "INDIRECT"
    return Transformation(kind, dependence.upper().replace(" ", "_"), masking=False)
