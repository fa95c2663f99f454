"""The result of rewriting a node: its number and its provenance columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from provspark.model.writes import Kind


@dataclass(frozen=True, slots=True)
class ProvenanceColumn:
    """A provenance column: where the rows of a plan came from.

    It consists of one to three columns of 64-bit integers. For a row it is one: the address of the row in scan
    `origin`, or any value if it stands for all rows of the scan (`whole`). For a group (`grouped`) it is two: the
    hashes of a key whose derivations tap `origin` recorded. With `others` a third column has the number of the one
    derivation that is left out. The columns are null if the row has no such origin, for example on the other side of an
    outer join or in another branch of a union.

    `kind` is the kind of the edges from the row to what it points at. Derivations that a tap recorded may have edges of
    both kinds, and a path is context if any of its edges is.
    """

    grouped: bool
    origin: int
    kind: Kind = "data"
    others: bool = False
    whole: bool = False

    @property
    def width(self) -> int:
        """Number of the integer columns that it consists of."""
        return 1 + self.grouped + self.others


@dataclass(frozen=True, slots=True)
class Traced:
    """A rewritten node, by its number in java/plan/Rewrite.java, with the provenance columns in its output."""

    number: int
    provenance: tuple[ProvenanceColumn, ...]


def as_context(provenance: Iterable[ProvenanceColumn]) -> tuple[ProvenanceColumn, ...]:
    """Return the provenance columns as context: of their rows, only a value was used."""
    return tuple(replace(column, kind="context") for column in provenance)
