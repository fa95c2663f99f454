"""What a rewritten node hands up: its plan and its legs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leg:
    """Columns that say where a row came from.

    A row leg is one long, the address of a row in the scan `origin`; a group leg is two, the hashes of a key whose
    derivations tap `origin` noted. Null where the row has no such origin (an outer join's other side, another branch
    of a union).
    """

    grouped: bool
    origin: int
    attributes: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Traced:
    """A rewritten node: its original output comes first in `plan`'s, then the legs' attributes."""

    plan: Any
    legs: tuple[Leg, ...]

    @property
    def attributes(self) -> list[Any]:
        """The columns of all legs, in order."""
        return [a for leg in self.legs for a in leg.attributes]


def rebound(legs: tuple[Leg, ...], attributes: list[Any]) -> tuple[Leg, ...]:
    """Return the legs over other attributes, one for each of theirs."""
    out, at = [], 0
    for leg in legs:
        width = len(leg.attributes)
        out.append(Leg(leg.grouped, leg.origin, tuple(attributes[at : at + width])))
        at += width
    return tuple(out)
