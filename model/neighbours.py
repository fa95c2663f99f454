"""Rows and cells as nodes of a neighbourhood, and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from provspark.model.operations import Dependence
from provspark.model.writes import Kind

__all__ = ["CellEdge", "CellNode", "RowEdge", "RowNode"]


@dataclass(frozen=True, slots=True, order=True)
class RowNode:
    """A row of a version."""

    dataset: str
    version: str
    row: int

    @property
    def id(self) -> str:
        """Identifier of the row: version and row."""
        return f"{self.version}/{self.row}"


@dataclass(frozen=True, slots=True, order=True)
class RowEdge:
    """A row came from another in a write: ``data``, or ``context`` if only a value was computed from it."""

    row: RowNode
    source: RowNode
    step: str
    write: int
    occurrence: int
    kind: Kind


@dataclass(frozen=True, slots=True, order=True)
class CellNode:
    """A value of a row; without a column, the row itself, which counts are computed from."""

    row: RowNode
    column: str = ""

    @property
    def id(self) -> str:
        """Identifier of the cell: version, row and column, quoted as in URLs."""
        return f"{self.row.id}/{quote(self.column, safe='')}"


@dataclass(frozen=True, slots=True, order=True)
class CellEdge:
    """A cell came from another in a write, or was decided by it."""

    cell: CellNode
    source: CellNode
    step: str
    write: int
    occurrence: int
    kind: Kind
    dependence: Dependence
    exact: bool
    """False if the rows' values decide whether it did; see `Provenance.cells`."""
