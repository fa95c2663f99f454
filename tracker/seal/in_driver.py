"""Sealing in the driver: turns the taps' notes into tensors.

Keys become ranges of inner axes, and addresses become row ids. Groups that no output row refers to are left out: from
the top tap down, each tap is read once, for the keys that the taps above it request. Pairs are never expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes import pairs as boxes
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingTensor, PendingWrite
from provspark.model.writes import Axis
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.seal.boxes_in_parts import Gathered
from provspark.tracker.seal.draft import WriteDraft
from provspark.tracker.seal.keys import GroupRanges, RequestedKeys
from provspark.tracker.seal.notes import Chunk, Noted, kept_rows, written_chunks
from provspark.tracker.taps.sidecar import NULL, Block, blocks
from provspark.tracker.taps.taps import PlacedTap

__all__ = ["seal"]


@dataclass(slots=True)
class _Asker:
    """Request of a provenance column for groups of a tap: rows of an upper axis and hashes of their keys, by block."""

    axis: int
    provenance_column: ProvenanceColumn
    rows: list[Int64] = field(default_factory=list)
    keys: list[tuple[Int64, Int64]] = field(default_factory=list)
    without: list[Int64] = field(default_factory=list)
    """For each row, the number of the row of its group that it leaves out."""


def seal(
    noted: Noted, site: str = "", top: Callable[[Noted, PlacedTap], Iterable[Chunk]] = written_chunks
) -> PendingWrite:
    """Resolve a write's notes to tensors.

    Parameters
    ----------
    noted : Noted
    site : str
        ``file:line`` of the write.
    top : callable
        Reads the output rows at the top tap, with their ids.

    Raises
    ------
    CaptureError
        The notes contradict each other: a key has no group, or more rows were written than noted.
    """
    return _InDriver(noted).run(site, top)


class _InDriver:
    """Sealing of one write, from the top tap down."""

    def __init__(self, noted: Noted) -> None:
        self._noted, self._draft = noted, WriteDraft(noted)
        self._wanted: dict[int, list[_Asker]] = {tap.number: [] for tap in noted.taps if tap.keyed}

    def run(self, site: str, top: Callable[[Noted, PlacedTap], Iterable[Chunk]]) -> PendingWrite:
        # A tap is placed before those that refer to its groups: the rewrite goes from the scans up, twins follow their
        # inner taps (`Rewriter.twin`), and the write's own tap is last. In reverse, all requests to a tap are known.
        *inner, last = self._noted.taps
        self._draft.tensors += self._related(last.provenance, 0, top(self._noted, last))
        for tap in reversed(inner):
            self._inner(tap)
        return self._draft.write(site)

    def _inner(self, tap: PlacedTap) -> None:
        """Add the axis of the requested groups' derivations, and relate it to the axes above and below."""
        askers = [asker for asker in self._wanted[tap.number] if asker.rows]
        if not askers:
            return
        distinct = RequestedKeys(
            [(_joined(k[0] for k in asker.keys), _joined(k[1] for k in asker.keys)) for asker in askers]
        )
        for asker in askers:
            asker.keys.clear()
        draft, receipts = self._draft, self._noted.of(tap)
        ranges = GroupRanges(len(distinct), sum(receipt.rows for receipt in receipts))
        numbered = any(asker.without for asker in askers)
        axis = len(draft.axes)
        size = 0
        numbers: list[Int64] = []

        def chunks() -> Iterator[Chunk]:
            nonlocal size
            for receipt in receipts:
                for block in blocks(tap, receipt, self._noted.folder):
                    which = self._asked_in(tap, block, distinct)
                    groups = np.flatnonzero(which >= 0)
                    if not len(groups):
                        continue
                    chunk, counts = kept_rows(block, groups, size)
                    ranges.add(which[groups], np.cumsum(counts) - counts + size, counts)
                    if numbered:  # the row number is the last column (`PlacedTap.width`)
                        numbers.append(chunk.columns[-1].values())
                    size += len(chunk.rows)
                    yield chunk

        made = self._related(tap.provenance, axis, chunks())  # reads all chunks, which sets size, ranges and numbers
        draft.axes.append(Axis("inner", size, label=tap.label))
        draft.check_found(tap, len(distinct) - ranges.filled)
        for asker, asked in zip(askers, distinct.asked, strict=True):
            rows = _joined(asker.rows)
            out = _places(_joined(asker.without), _joined(numbers)) if asker.without else None
            upper = Gathered()
            for which, starts, counts in ranges.of(asked):
                kept = (which, starts, counts) if out is None else _without(which, starts, counts, out)
                # `_without` makes ranges unordered, several to a row, some empty. `from_ranges` accepts all these.
                upper.add(boxes.from_ranges(rows[kept[0]], *kept[1:]))
            tensor = PendingTensor(asker.axis, axis, upper.boxes(), asker.provenance_column.kind)
            draft.tensors += [tensor] if len(tensor.boxes) else []
        draft.tensors += made  # last, as in by_jobs.py: the order determines the names of the tensors' files

    def _asked_in(self, tap: PlacedTap, block: Block, distinct: RequestedKeys) -> Int64:
        """Return the index of each of a block's keys among the requested keys, -1 if it is not requested."""
        if block.keys is None or block.counts is None:
            raise CaptureError(
                f"the records of tap {tap.number} are incomplete (a block of keys is missing); run the step again"
            )
        first = block.keys[0].values()
        if tap.whole:  # noted by partition, requested by one constant key (`TracedCache.whole`)
            return np.zeros(len(first), dtype=np.int64)
        return distinct.places(first, block.keys[1].values())

    def _related(
        self, provenance: Sequence[ProvenanceColumn], axis: int, chunks: Iterable[Chunk]
    ) -> list[PendingTensor]:
        """Return the tensors from an axis to scans. Register its requests for groups, which are resolved later."""
        at = np.cumsum([0, *(provenance_column.width for provenance_column in provenance)])
        askers = {
            i: _Asker(axis, provenance_column)
            for i, provenance_column in enumerate(provenance)
            if provenance_column.grouped
        }
        for asker in askers.values():
            self._wanted[asker.provenance_column.origin].append(asker)

        def note_askers(chunk: Chunk) -> None:
            for i, asker in askers.items():
                _ask(asker, chunk.ids, [column.values() for column in chunk.columns[at[i] : at[i + 1]]])

        return self._draft.located(provenance, axis, chunks, note_askers)


def _ask(asker: _Asker, rows: Int64, columns: list[Int64]) -> None:
    present = columns[0] != NULL
    if not present.all():
        rows, columns = rows[present], [column[present] for column in columns]
    if len(rows):
        asker.rows.append(rows)
        asker.keys.append((columns[0], columns[1]))
        if asker.provenance_column.others:
            asker.without.append(columns[2])


def _places(numbers: Int64, among: Int64) -> Int64:
    """Return the index of each number in `among`."""
    order = np.argsort(among, kind="stable")
    at = order[np.searchsorted(among, numbers, sorter=order) % len(order)]
    if not np.array_equal(among[at], numbers):
        wrong = int((among[at] != numbers).sum())
        raise CaptureError(
            f"{wrong} rows exclude a row that is not in their group. Run the step again, and report this error if it "
            f"recurs"
        )
    return at


def _without(which: Int64, starts: Int64, counts: Int64, places: Int64) -> tuple[Int64, Int64, Int64]:
    """Remove one position from the ranges of each row, by splitting the range that contains it."""
    out = places[which]
    hit = (out >= starts) & (out < starts + counts)
    before = np.where(hit, out - starts, counts)
    after = np.where(hit, starts + counts - out - 1, 0)
    return np.r_[which, which], np.r_[starts, out + 1], np.r_[before, after]


def _joined(parts: Iterable[Int64]) -> Int64:
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
