"""Conversion of operations, paths and dropped columns to the API's models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from provspark.index_store.query.cell_explanations import CellExplanations
from provspark.index_store.query.dropped_columns import Drop
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.operation_list import OperationLine
from provspark.index_store.query.relation import image
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver
from provspark.web import describe
from provspark.web import operation_models as told
from provspark.web.visible import Visible

__all__ = ["drops", "fields", "operations", "paths"]

_NAMES = ("columns_in", "columns_out", "reads", "makes", "drops")


def operations(visible: Visible, lines: Iterable[OperationLine]) -> list[told.OperationJson]:
    """Describe operations, without texts and names that may contain masked values."""
    described = []
    for line in lines:
        read = is_driver(Dataset.parse(line.dataset))
        text = visible.step_operations(line.step, line.write, line.operations, line.text, read=read)
        about: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in fields(line).items()}
        about |= {k: [visible.name_in(line.step, line.write, n, read=read) for n in about[k]] for k in _NAMES}
        about |= {"categories": about["paper_categories"], "why": visible.failure(line.why or "") or None}
        dataset = describe.named(line.dataset, visible)
        described.append(told.OperationJson(**(about | {"dataset": dataset, "text": text})))
    return described


def paths(visible: Visible, explanations: Explanations, at: VersionReference | None) -> list[told.PathJson]:
    """Describe the paths of `how`, each with its operations.

    Parameters
    ----------
    at : VersionReference or None
        Version of the selected rows.
    """
    columns = explanations.columns if isinstance(explanations, CellExplanations) else ()
    counted = {
        (str(p.at.version.dataset), p.at.version.id, p.occurrence, p.kind): image(p.boxes).count
        for p in explanations.answer.parts
    }
    lines = explanations.lines()
    return [
        told.PathJson(
            dataset=describe.named(place[0], visible),
            version=place[1],
            occurrence=place[2],
            kind=place[3],
            rows=counted.get(place, 0),
            column=visible.name_at(at, columns[number][0]) if columns and at else None,
            related_column=visible.name_of(place[0], place[1], columns[number][1]) if columns else None,
            operations=operations(visible, (line for i, line in lines if i == number)),
        )
        for number, (place, _) in enumerate(explanations.paths)
    ]


def drops(visible: Visible, at: VersionReference, lines: Iterable[Drop]) -> list[told.DropJson]:
    """Describe the operations that dropped columns of a version."""
    described = []
    for line in lines:
        text = visible.step_operations(line.step, line.write, [line.operation], line.text)
        about: dict[str, Any] = {"dataset": describe.named(line.dataset, visible), "text": text} | {
            "column": visible.name_at(at, line.column),
            "known_as": visible.name_in(line.step, line.write, line.known_as),
            "into": [visible.name_in(line.step, line.write, n) for n in line.into],
        }
        described.append(told.DropJson(**{**fields(line), **about}))
    return described


def fields(line: Any) -> dict[str, Any]:
    """Return the fields of an answer's line as a dictionary."""
    return {name: getattr(line, name) for name in line.__slots__}
