"""Edges of reads on the driver, worked out from a step's manifest: no query takes part."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from provspark.index_store.store.store import Store
from provspark.model.boxes import pairs as boxes
from provspark.model.steps import Manifest
from provspark.model.writes import Write

Ends = dict[int, set[tuple[Any, ...]]]
"""By row of an output: (name of the source's folder, row), with the kind behind it where it is not data."""


class Edges:
    """The tensors of a step's reads and writes."""

    def __init__(self, store: Path, manifest: Manifest | None) -> None:
        assert manifest is not None
        self._store, self.manifest = Store.open(store.as_uri()), manifest

    def of(self, write: Write) -> Ends:
        """What each row of a read or of a write comes from; of its reads axis, ``("reads", row)``."""
        below: dict[int, dict[int, set[tuple[Any, ...]]]] = defaultdict(lambda: defaultdict(set))
        order = sorted(write.tensors, key=lambda t: -t.out)
        for tensor in order:
            pairs = boxes.pairs(self._store.tensor(self.manifest.step, tensor, "out").all())
            axis = write.axes[tensor.src]
            for out, src in zip(*(side.tolist() for side in pairs), strict=True):
                if axis.role == "inner":
                    ends = {_worse(end, tensor.kind) for end in below[tensor.src][src]}
                else:
                    name = "reads" if axis.role == "reads" else axis.label.rsplit("/", 1)[-1]
                    ends = {_worse((name, src), tensor.kind)}
                below[tensor.out][out] |= ends
        return {row: below[0][row] for row in range(write.output.rows)}

    def context(self, write: Write) -> Ends:
        """What each row of a write has as context through reads, of the sources of those."""
        start, through = 0, list[set[tuple[Any, ...]]]()
        for read in self.manifest.reads:
            through += [self.of(read)[row] for row in range(read.output.rows)]
            start += read.output.rows
        return {
            row: {end for name, src, *kind in found if name == "reads" and kind == ["context"] for end in through[src]}
            for row, found in self.of(write).items()
        }


def _worse(end: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    kinds = {"data": 0, "context": 1, "possible": 2}
    worst = max((kind, *end[2:]), key=kinds.__getitem__)
    return end[:2] if worst == "data" else (*end[:2], worst)
