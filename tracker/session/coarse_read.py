"""Coarse reads on the driver: each returned row comes from all rows read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from provspark.model.datasets import Dataset, Field
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis, Untracked
from provspark.tracker.plan.operations import Draft, built
from provspark.tracker.session.driver_reads import Known
from provspark.tracker.session.possible_edges import all_of, one_range
from provspark.tracker.session.read_inputs import Inputs

__all__ = ["CoarseRead", "ReadPlan", "from_all"]

_WHOLE = "its result is computed from all rows that it read"


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Operations of the plan that was read, for its columns.

    Parameters
    ----------
    draft : Draft
    identities : tuple of str
        Identity of the version that each leaf reads, in order.
    paths : tuple of tuple of int
        Position of each leaf in the plan, as in `Rewriter.paths`.
    """

    draft: Draft
    identities: tuple[str, ...]
    paths: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CoarseRead:
    """A coarse `Read`.

    Parameters
    ----------
    inputs : Inputs
    reason : Untracked, optional
        Why its rows were not followed one by one. By default, because its result is computed from all rows.
    plan : ReadPlan, optional
        Operations that relate its columns to those of its sources.
    """

    inputs: Inputs
    action: str
    site: str
    rows: int
    fields: tuple[Field, ...] = ()
    single: bool = False
    reason: Untracked | None = None
    plan: ReadPlan | None = None

    def settle(self, dataset: Dataset, known: Known) -> None:
        """Count the rows of a source that is about to change."""
        for source in self.inputs.sources:
            if source.dataset.meets(dataset) and source.identity not in known:
                known[source.identity] = source.finish()[0]

    def resolve(self, output: PendingVersion, known: Known) -> PendingWrite:
        """Relate each returned row to all rows read."""
        inputs = self.inputs
        if inputs.node:
            why = Untracked(" ".join(dict.fromkeys((inputs.node, self.action))), inputs.why, self.site)
            return PendingWrite(output, "untracked", inputs.uncounted(), reason=why)
        versions = {s.identity: known[s.identity] if s.identity in known else s.finish()[0] for s in inputs.sources}
        plan, why = self.plan, self.reason or Untracked(self.action, _WHOLE, self.site)
        if plan is None or versions.keys() != set(plan.identities):
            return from_all(output, self.rows, list(versions.values()), why)
        made = from_all(output, self.rows, [versions[identity] for identity in plan.identities], why)
        return replace(made, operations=built(plan.draft, made.axes, plan.paths))


def from_all(
    output: PendingVersion, rows: int, versions: Sequence[PendingVersion], reason: Untracked | None
) -> PendingWrite:
    """Return a coarse read of `rows` rows, each of which comes from all rows of some versions."""
    axes = [Axis("output", rows, output.files.identity(output.dataset), label=output.dataset.uri)]
    tensors = []
    for i, version in enumerate(versions):
        size, identity = version.files.total, version.files.identity(version.dataset)
        axes.append(Axis("input", size, identity, i, version.dataset.uri))
        if rows and size:
            tensors.append(PendingTensor(0, 1 + i, all_of(one_range(rows), [range(size)]), "data"))
    distinct = {version.files.identity(version.dataset): version for version in versions}
    return PendingWrite(output, "coarse", tuple(distinct.values()), tuple(axes), tuple(tensors), reason=reason)
