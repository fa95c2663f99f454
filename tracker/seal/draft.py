"""A write during sealing: its axes and tensors so far, and the resolution of addresses to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes import pairs as boxes
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingTensor, PendingWrite
from provspark.model.writes import Axis
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.seal.boxes_in_parts import Gathered
from provspark.tracker.seal.notes import Chunk, Noted, NotedColumn
from provspark.tracker.sources import Segments
from provspark.tracker.taps.sidecar import NULL
from provspark.tracker.taps.taps import PlacedTap

__all__ = ["WriteDraft"]

_THREADS = 4
"""Number of provenance columns resolved at once. Sorting releases the GIL."""
_SMALL = 1 << 14
"""Number of rows up to which blocks are resolved without threads, because starting these takes longer."""
_BATCH = 2
"""Number of blocks of notes in memory at once."""


class WriteDraft:
    """Draft of a sealed write. The two ways of sealing resolve the keys of its rows and add the tensors.

    Parameters
    ----------
    noted : Noted
    """

    def __init__(self, noted: Noted) -> None:
        self._noted = noted
        output = noted.written.version
        self.axes = [
            Axis("output", output.files.total, output.files.identity(output.dataset), label=output.dataset.uri)
        ]
        self.tensors: list[PendingTensor] = []
        for number, (version, _) in enumerate(noted.scans):
            identity = version.files.identity(version.dataset)
            self.axes.append(Axis("input", version.files.total, identity, number, version.dataset.uri))

    def write(self, site: str) -> PendingWrite:
        """Return the write with its final axes and tensors."""
        versions = {v.files.identity(v.dataset): v for v, _ in self._noted.scans}
        return PendingWrite(
            output=self._noted.written.version,
            coverage="coarse" if any(_coarse(tap) for tap in self._noted.taps) else "exact",
            inputs=tuple(versions.values()),
            axes=tuple(self.axes),
            tensors=tuple(self.tensors),
            site=site,
        )

    def check_found(self, tap: PlacedTap, missing: int) -> None:
        """Raise CaptureError if requested keys have no group, except for a global aggregate over no rows."""
        nothing = tap.keyless and not self._noted.of(tap)
        if missing and not nothing and not tap.coarse:
            raise CaptureError(
                f"capture recorded no rows for {missing} group keys of the {tap.label} (tap {tap.number}). Run the "
                f"step again, and report this error if it recurs"
            )

    def located(
        self,
        provenance: Sequence[ProvenanceColumn],
        axis: int,
        chunks: Iterable[Chunk],
        meanwhile: Callable[[Chunk], None] = lambda _: None,
    ) -> list[PendingTensor]:
        """Relate an axis to the scan rows that its provenance columns refer to. Call `meanwhile` with each chunk."""
        at = np.cumsum([0, *(column.width for column in provenance)])
        gathered = {i: Gathered() for i, column in enumerate(provenance) if not column.grouped}

        def located(chunk: Chunk, i: int) -> Boxes:
            return self._boxes_of(provenance[i], chunk, chunk.columns[at[i]])

        with ThreadPoolExecutor(_THREADS) as pool:  # starts no thread before the first job
            waiting = iter(chunks)
            while batch := list(islice(waiting, _BATCH)):
                jobs = [(chunk, i) for chunk in batch for i in gathered]
                # `pool.map` starts the jobs now, `map` when their results are read.
                run = pool.map if sum(len(chunk.rows) for chunk in batch) > _SMALL else map
                related = run(lambda job: located(*job), jobs)
                for chunk in batch:
                    meanwhile(chunk)
                for (_, i), boxes_found in zip(jobs, related, strict=True):
                    gathered[i].add(boxes_found)
        made = [(column, gathered[i].boxes()) for i, column in enumerate(provenance) if i in gathered]
        # Axis 0 is the output. Inputs follow in the order of scans.
        return [PendingTensor(axis, 1 + column.origin, all_of, column.kind) for column, all_of in made if len(all_of)]

    def _boxes_of(self, column: ProvenanceColumn, chunk: Chunk, noted: NotedColumn) -> Boxes:
        """Relate rows to the scan rows at their addresses."""
        segments = self._noted.scans[column.origin][1]
        if isinstance(chunk.rows, range) and not column.whole:
            lines = _lines(chunk.rows.start, noted.runs(), segments)
            if lines is not None:
                return lines
        rows, addresses = chunk.ids, noted.values()
        present = addresses != NULL
        if not present.all():
            addresses, rows = addresses[present], rows[present]
        if column.whole:
            none = np.zeros(len(rows), dtype=np.int64)
            return boxes.from_ranges(rows, none, none + self._noted.scans[column.origin][0].files.total)
        return boxes.from_pairs(rows, segments.rows_of(addresses))


def _lines(first: int, runs: tuple[Int64, Int64] | None, segments: Segments) -> Boxes | None:
    """Relate rows from `first` on to runs of addresses, one diagonal per run. None if a run spans several blocks."""
    if runs is None:
        return None
    starts, lengths = runs
    src = segments.rows_of_runs(starts, lengths)
    if src is None:
        return None
    lines = Boxes(np.cumsum(lengths) - lengths + first, lengths, src, lengths, lengths > 1)
    # `merge` sorts all lines. It joins two only if one continues the other or both come from the same row.
    step = src[1:] - src[:-1]
    return boxes.merge(lines) if bool(((step == lengths[:-1]) | (step == 0)).any()) else lines


def _coarse(tap: PlacedTap) -> bool:
    return tap.coarse or any(column.whole for column in tap.provenance)
