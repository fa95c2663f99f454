"""Accumulators: the value that the script reads may come from all rows that Spark has computed so far."""

from __future__ import annotations

import sys
from typing import Any

from provspark.tracker.session.coarse_read import CoarseRead
from provspark.tracker.session.read_inputs import NONE, Inputs

__all__ = ["Accumulated", "accumulators_exist"]

_ACTION = "Accumulator.value"


class Accumulated:
    """Inputs of everything that Spark computed while accumulators existed. Which task added to which one is unknown."""

    def __init__(self) -> None:
        self._inputs = NONE
        self._numbers: set[tuple[str, frozenset[str]]] = set()

    def note(self, inputs: Inputs) -> None:
        """Add the inputs of an action or a write, if there are accumulators."""
        if accumulators_exist():
            self._inputs += inputs

    def read(self, value: Any, site: str, rows: int) -> CoarseRead | None:
        """Return the read of a value, or None if it can't contain anything from rows, or nothing new.

        A script may poll a number. Repeated reads on one line count as one until Spark computes from other inputs.
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
    """Whether the script created an accumulator. Those of Spark's profilers don't count: the script can't read them."""
    module = sys.modules.get("pyspark.accumulators")
    known = [] if module is None else list(module._accumulatorRegistry.values())
    return any(each.aid >= 0 and not each._deserialized for each in known)
