"""Accumulators: what the script reads of one may be made of all rows that Spark computed until then."""

from __future__ import annotations

import sys
from typing import Any

from provspark.tracker.session.coarse_read import CoarseRead
from provspark.tracker.session.read_inputs import NONE, Inputs

__all__ = ["Accumulated", "accumulators_exist"]

_ACTION = "Accumulator.value"


class Accumulated:
    """What Spark computed of a step while accumulators existed; which task added to which one is not known."""

    def __init__(self) -> None:
        self._inputs = NONE
        self._numbers: set[tuple[str, frozenset[str]]] = set()

    def note(self, inputs: Inputs) -> None:
        """Remember what an action or a write is computed from."""
        if accumulators_exist():
            self._inputs += inputs

    def read(self, value: Any, site: str, rows: int) -> CoarseRead | None:
        """Return the read of a value; None where nothing can be in it, or nothing new.

        A script may poll a number. Repeated reads at one line are one read, until Spark computes from other inputs.
        """
        if not self._inputs.sources and self._inputs.complete:
            return None
        single = isinstance(value, (int, float))
        if single:
            known = site, frozenset(source.identity for source in self._inputs.sources)
            if known in self._numbers:
                return None
            self._numbers.add(known)
        return CoarseRead(self._inputs, _ACTION, site, 1 if single else rows, single=single)


def accumulators_exist() -> bool:
    """Whether the script made an accumulator; Spark's profilers have some of their own, which it can't read."""
    module = sys.modules.get("pyspark.accumulators")
    known = [] if module is None else list(module._accumulatorRegistry.values())
    return any(each.aid >= 0 and not each._deserialized for each in known)
