"""A plan that was traced when it was cached, checkpointed, transposed or turned into an RDD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from provspark.model.errors import CaptureError
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.sources.held_scans import KeptScan
from provspark.tracker.taps.taps import Receipt, by_tap, kept


class TracedCache:
    """Traced plan that later writes and reads build on.

    Parameters
    ----------
    rewriter : Rewriter
        Rewriter that traced the plan. Its taps mark their partitions.
    provenance : tuple of ProvenanceColumn
        Provenance columns of the rows, in the numbering of `rewriter`.
    name : str
        Name of its folder within the step's folder for sidecar files.
    plan : LogicalPlan
        The user's plan, with numbered leaves.
    """

    def __init__(self, rewriter: Rewriter, provenance: tuple[ProvenanceColumn, ...], name: str, plan: Any) -> None:
        self.rewriter, self.provenance, self._name, self.plan = rewriter, provenance, name, plan
        self.scans = [s if isinstance(s, KeptScan) else KeptScan(s) for s in rewriter.scans]

    @property
    def width(self) -> int:
        """Number of table columns that hold the provenance columns."""
        return sum(column.width for column in self.provenance)

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return by tap the receipts of its computation. Paths of sidecar files are relative to the step's folder."""
        own = {tap: covering(some) for tap, some in by_tap(self.rewriter.java.receipts()).items()}
        return {tap: [self._moved(r) for r in some] for tap, some in own.items()} | self.rewriter.lent_receipts()

    def _moved(self, receipt: Receipt) -> Receipt:
        how, _, name = receipt.place.partition(" ")
        return replace(receipt, place=f"file {self._name}/{name}") if how == "file" else receipt

    def lend(self, to: Rewriter, plan: Any) -> Traced:
        """Return the plan, whose last columns are the provenance columns, as a leaf of another rewrite."""
        return Traced(to.java.held(plan, self.width), self.place(to))

    def place(self, to: Rewriter) -> tuple[ProvenanceColumn, ...]:
        """Add its inputs and taps to another rewrite. Return its provenance columns in the other's numbering."""
        scans, taps, places = len(to.scans), len(to.taps), to.placed

        def moved(provenance: Sequence[ProvenanceColumn]) -> tuple[ProvenanceColumn, ...]:
            return tuple(
                replace(column, origin=column.origin + (taps if column.grouped else scans)) for column in provenance
            )

        to.scans.extend(self.scans)
        to.paths.extend(self.rewriter.paths)
        for tap in self.rewriter.taps:
            to.taps.append(
                replace(tap, number=taps + tap.number, place=places + tap.place, provenance=moved(tap.provenance))
            )
            to.lent[places + tap.place] = (self, tap.place)
        to.placed += self.rewriter.placed
        to.java.skipTaps(self.rewriter.placed)
        return moved(self.provenance)

    def whole(self, to: Rewriter) -> tuple[ProvenanceColumn, ...]:
        """Add its inputs and taps to another rewrite. Return provenance columns to all notes of the top taps."""
        provenance = self.place(to)
        for column in provenance:
            to.taps[column.origin] = replace(to.taps[column.origin], whole=True, keyless=True)
        return provenance


def covering(receipts: Sequence[Receipt]) -> list[Receipt]:
    """Return the receipts that count, for a plan whose partitions may be computed by different jobs.

    If a partition was computed again, after it was lost or for a sample, its last computation counts.

    Raises
    ------
    CaptureError
        A task recomputed a partition together with one that only this task computed, so its notes can't be told apart.
    """
    out: list[Receipt] = []
    covered: set[str] = set()
    for r in sorted(receipts, key=lambda r: (r.stage, r.attempt, r.task), reverse=True):
        mine = {name for name, _ in r.marks}
        if mine <= covered:
            continue
        if mine & covered:
            raise CaptureError(
                "one task computed a lost partition of a cached plan again, together with other partitions, so the "
                "records of the two can't be separated. Run the step again"
            )
        covered |= mine
        out.append(kept(r))
    return out[::-1]
