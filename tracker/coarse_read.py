"""A read of which only is known that all rows returned were computed from all rows read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provspark.index_store.model import (
    Axis,
    Dataset,
    Field,
    PendingTensor,
    PendingVersion,
    PendingWrite,
    Untracked,
)
from provspark.tracker.after_reads import all_of, one_range
from provspark.tracker.driver_reads import Known
from provspark.tracker.read_inputs import Inputs

__all__ = ["CoarseRead"]


@dataclass(frozen=True, slots=True)
class CoarseRead:
    """A call that returned values; `Read` says what its fields are.

    Parameters
    ----------
    inputs : Inputs
    reason : Untracked, optional
        Why its rows were not followed one by one, where that was tried.
    """

    inputs: Inputs
    action: str
    site: str
    rows: int
    fields: tuple[Field, ...] = ()
    single: bool = False
    reason: Untracked | None = None

    def settle(self, dataset: Dataset, known: Known) -> None:
        """Count the rows of what was read of a data set that is about to change; see `Read.settle`."""
        for source in self.inputs.sources:
            if source.dataset.meets(dataset) and source.identity not in known:
                known[source.identity] = source.finish()[0]

    def resolve(self, output: PendingVersion, known: Known) -> PendingWrite:
        """Relate all rows to all rows; see `Read.resolve`."""
        inputs = self.inputs
        if inputs.node:
            why = Untracked(f"{inputs.node} {self.action}", inputs.why, self.site)
            return PendingWrite(output, "untracked", reason=why)
        versions = [known[s.identity] if s.identity in known else s.finish()[0] for s in inputs.sources]
        return from_all(output, self.rows, versions, self.reason)


def from_all(
    output: PendingVersion, rows: int, versions: Sequence[PendingVersion], reason: Untracked | None
) -> PendingWrite:
    """Return a coarse read of so many rows, each of which comes from all rows of some versions."""
    axes = [Axis("output", rows, output.files.identity(output.dataset), label=output.dataset.uri)]
    tensors = []
    for i, version in enumerate(versions):
        size, identity = version.files.total, version.files.identity(version.dataset)
        axes.append(Axis("input", size, identity, i, version.dataset.uri))
        if rows and size:
            tensors.append(PendingTensor(0, 1 + i, all_of(one_range(rows), [range(size)]), "data"))
    return PendingWrite(output, "coarse", tuple(versions), tuple(axes), tuple(tensors), reason=reason)
