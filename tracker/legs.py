"""What a rewritten node hands up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leg:
    """Columns that say where a row came from.

    A row leg is one long, the address of a row in the scan `origin`; a group leg is two, the hashes of a key whose
    derivations tap `origin` noted. Null where the row has no such origin (an outer join's other side, another branch
    of a union).
    """

    grouped: bool
    origin: int

    @property
    def width(self) -> int:
        """Number of its columns."""
        return 2 if self.grouped else 1


@dataclass(frozen=True, slots=True)
class Traced:
    """A rewritten node, by its number in java/Rewrite.java; it puts out its own columns and its legs'."""

    number: int
    legs: tuple[Leg, ...]
