"""What a rewritten node hands up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from provspark.model.writes import Kind


@dataclass(frozen=True, slots=True)
class ProvenanceColumn:
    """Columns that say where a row came from.

    A row provenance column is one long, the address of a row in the scan `origin`, or any where it stands for all rows
    of the scan (`whole`); a group provenance column is two, the hashes of a key whose derivations tap `origin` noted;
    with `others` there is a third, the number of the one derivation that it leaves out. Null where the row has no such
    origin (an outer join's other side, another branch of a union). Its kind is that of the edges from the row to what
    it points at: a derivation that a tap notes has edges of both kinds, and a path is context if any of its edges is.
    """

    grouped: bool
    origin: int
    kind: Kind = "data"
    others: bool = False
    whole: bool = False

    @property
    def width(self) -> int:
        """Number of its columns."""
        return 1 + self.grouped + self.others


@dataclass(frozen=True, slots=True)
class Traced:
    """A rewritten node, by its number in java/plan/Rewrite.java; it puts out its columns and provenance columns."""

    number: int
    provenance: tuple[ProvenanceColumn, ...]


def as_context(provenance: Iterable[ProvenanceColumn]) -> tuple[ProvenanceColumn, ...]:
    """Return provenance columns of rows from which only a value was computed."""
    return tuple(replace(column, kind="context") for column in provenance)
