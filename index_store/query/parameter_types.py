"""Types of the questions' parameters: a string that names a dataset has another type than one that names a column.

Python and editors see plain types. The command line and HTTP read from the annotations what a parameter takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from provspark.index_store.values.conditions import Condition
from provspark.model.writes import Kind

__all__ = [
    "ColumnName",
    "ColumnNames",
    "Conditions",
    "DatasetName",
    "FormerNames",
    "Kinds",
    "Moment",
    "OperationNumber",
    "OperationNumbers",
    "Place",
    "Places",
    "Rows",
    "RunId",
    "StepId",
    "StepOrDataset",
    "Takes",
    "TrustedPlaces",
    "VersionId",
]

What = Literal[
    "dataset",
    "step",
    "step or dataset",
    "place",
    "column",
    "rows",
    "conditions",
    "version",
    "run",
    "moment",
    "operation",
    "kinds",
    "trust",
    "former names",
]


@dataclass(frozen=True, slots=True)
class Takes:
    """What a parameter takes, and whether it takes several."""

    what: What
    many: bool = False


DatasetName = Annotated[str, Takes("dataset")]
"""A dataset's name or path."""
StepId = Annotated[str, Takes("step")]
"""A step's id, or the beginning of one."""
StepOrDataset = Annotated[str, Takes("step or dataset")]
"""A step's id, or a dataset."""
Place = Annotated[str, Takes("place")]
"""A dataset or a step on a path."""
Places = Annotated[str | Sequence[str], Takes("place", many=True)]
"""A place, or several in the order in which a path passes them."""
ColumnName = Annotated[str, Takes("column")]
ColumnNames = Annotated[str | Sequence[str] | None, Takes("column", many=True)]
"""A column, several, or None for all."""
Rows = Annotated[Iterable[int] | None, Takes("rows", many=True)]
"""Row ids, or None for all rows."""
Conditions = Annotated[Sequence[Condition | tuple[str, str, Any]], Takes("conditions", many=True)]
"""Conditions that must all hold: (column, operator, value)."""
VersionId = Annotated[str, Takes("version")]
RunId = Annotated[str, Takes("run")]
"""A run's id, or ``latest``."""
Moment = Annotated[datetime | str, Takes("moment")]
"""A time, or its ISO 8601 text."""
OperationNumber = Annotated[int, Takes("operation")]
"""The number of an operation within a step's write."""
OperationNumbers = Annotated[Sequence[int], Takes("operation", many=True)]
Kinds = Annotated[Iterable[Kind] | Kind, Takes("kinds", many=True)]
"""Kinds of edges."""
TrustedPlaces = Annotated[Iterable[str] | str, Takes("trust", many=True)]
"""Tasks, operators, script lines and kinds of stops."""
FormerNames = Annotated[Mapping[str, str], Takes("former names", many=True)]
"""Mapping from a column's name to its earlier name."""
