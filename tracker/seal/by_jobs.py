"""Sealing by jobs of the script's Spark application, so that the driver's memory does not grow with the rows.

Executors read the taps' notes (java/seal/Notes.java), join the keys that rows refer to with the groups that have them,
and store the ranges of each tensor sorted by row. The driver streams these and the noted addresses. For the groups that
are kept, it holds one number per block of notes. Axes are numbered as in `draft.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.model.arrays import Int64
from provspark.model.arrow import int64s, numbers
from provspark.model.boxes import Boxes
from provspark.model.boxes import pairs as boxes
from provspark.model.boxes.spool import Parts, Spool
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingTensor, PendingWrite
from provspark.model.writes import Axis
from provspark.tracker.plan.provenance_columns import ProvenanceColumn
from provspark.tracker.seal.boxes_in_parts import Gathered
from provspark.tracker.seal.draft import WriteDraft
from provspark.tracker.seal.notes import Chunk, Noted, kept_rows, written_chunks, written_places
from provspark.tracker.seal.staging import BUCKET_ROWS, Staging
from provspark.tracker.spark.jvm import Jvm
from provspark.tracker.taps.sidecar import blocks
from provspark.tracker.taps.taps import PlacedTap, Receipt

_SHUFFLE_ROWS = 1 << 19
"""Noted rows per shuffle partition, up to `_MOST_PARTITIONS` partitions."""
_MOST_PARTITIONS = 2000
"""Largest number of shuffle partitions. With more, Spark only keeps average block sizes (HighlyCompressedMapStatus)."""
_READERS = 400
"""Largest number of Spark tasks that read the notes of one tap."""
_KEPT = "place BIGINT, k1 BIGINT, k2 BIGINT, n BIGINT, at BIGINT"
"""Columns of the kept groups. `place` is null for a key without a group. `at`: kept rows before the group in its block
(java/seal/Starts.java)."""
_FOUND = "row BIGINT, start BIGINT, n BIGINT"
_TASK, _BLOCK = 40, 20
"""Bit offsets of task and block within a place (java/seal/Notes.java)."""
_ALIKE = "({} ^ {}) = 0"
"""Equality of two keys' second halves, written so that Spark filters joined rows by it instead of joining by it. A join
by both halves would sort by two columns; by a single long, Spark uses a radix sort and compares no rows."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Request of a provenance column for groups of a tap."""

    axis: int
    provenance_column: ProvenanceColumn
    rows: int
    """Number of rows of the axis."""
    view: str
    """View of the rows (`row`), their keys (`a`, `b`) and the number of the row to leave out (`c`)."""


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks of notes with kept groups, in order."""

    block: Int64
    """Places of the blocks, without the bits of groups."""
    first: Int64
    """First id of each block on the axis."""
    size: int
    """Size of the axis."""

    @property
    def table(self) -> pa.Table:
        """The blocks as a table for queries, with columns `block` and `first`."""
        return pa.table({"block": int64s(self.block), "first": int64s(self.first)})

    def ids(self, tasks: int) -> list[Int64]:
        """Return for each task the first id of each of its blocks, 0 for blocks without kept groups."""
        task, block = self.block >> (_TASK - _BLOCK), _number(self.block)
        parts = []
        for low, high in itertools.pairwise(np.searchsorted(task, np.arange(tasks + 1)).tolist()):
            ids = np.zeros(int(block[high - 1]) + 1 if high > low else 0, dtype=np.int64)
            ids[block[low:high]] = self.first[low:high]
            parts.append(ids)
        return parts


def seal_by_jobs(jvm: Jvm, noted: Noted, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors. The result equals that of `provspark.tracker.seal.in_driver.seal`.

    Raises
    ------
    CaptureError
        The notes contradict each other: a key has no group, or more rows were written than noted.
    """
    places = {tap.place for tap in noted.taps}
    total = sum(receipt.rows for place in places for receipt in noted.receipts.get(place, []))
    partitions = min(_MOST_PARTITIONS, -(-total // _SHUFFLE_ROWS) or 1)
    with Staging(jvm, noted.folder, partitions) as staging:
        return _ByJobs(jvm, noted, staging).run(site)


class _ByJobs:
    """Sealing of one write, from the top tap down."""

    def __init__(self, jvm: Jvm, noted: Noted, staging: Staging) -> None:
        self._noted, self._draft = noted, WriteDraft(noted)
        self._jvm = jvm
        self._staging = staging
        self._names = itertools.count()
        self._asked: dict[int, list[_Asked]] = {tap.number: [] for tap in noted.taps if tap.keyed}

    def run(self, site: str) -> PendingWrite:
        *inner, last = self._noted.taps
        self._top(last)
        for tap in reversed(inner):
            self._inner(tap)
        return self._draft.write(site)

    def _located(
        self, provenance: Sequence[ProvenanceColumn], axis: int, chunks: Iterable[Chunk]
    ) -> list[PendingTensor]:
        """Relate an axis to the input rows that its provenance columns refer to. Skip the notes if none does."""
        if all(provenance_column.grouped for provenance_column in provenance):
            return []
        return self._draft.located(provenance, axis, chunks)

    def _top(self, tap: PlacedTap) -> None:
        """Resolve the provenance columns of the output."""
        self._draft.tensors += self._located(tap.provenance, 0, written_chunks(self._noted, tap))
        receipts = self._noted.of(tap)
        if receipts and any(provenance_column.grouped for provenance_column in tap.provenance):
            # The meaning of `ids` depends on the tap (Notes.java): pairs here, first ids of blocks in `_rows_of`.
            ids = [np.stack(written_places(self._noted, receipt), axis=1).ravel() for receipt in receipts]
            self._ask(tap, 0, self._draft.axes[0].size, self._spread(receipts, ids))

    def _inner(self, tap: PlacedTap) -> None:
        """Resolve the derivations of the requested groups."""
        asked = self._asked[tap.number]
        draft, receipts = self._draft, self._noted.of(tap)
        kept, missing = self._kept(tap, asked, receipts) if asked else (None, 0)
        if kept is None:
            return
        draft.check_found(tap, missing)
        blocks = self._blocks(kept)
        axis = len(draft.axes)
        made = self._located(tap.provenance, axis, self._chunks(tap, receipts, kept))
        draft.axes.append(Axis("inner", blocks.size, label=tap.label))
        if blocks.size:
            rows = self._rows_of(tap, receipts, kept, blocks)
            self._ask(tap, axis, blocks.size, rows)
            ranges = self._ranges(tap, kept, blocks)
            for each in asked:
                out = self._columns(tap, rows, tap.width - 1, 1) if each.provenance_column.others else ""
                relation = self._relation(each, ranges, out, single=tap.keyless)
                draft.tensors += (
                    [PendingTensor(each.axis, axis, relation, each.provenance_column.kind)] if len(relation) else []
                )
        draft.tensors += made

    # -- data on executors

    def _ask(self, tap: PlacedTap, axis: int, size: int, rows: str) -> None:
        """Register the provenance columns of an axis that request groups."""
        at = 0
        for provenance_column in tap.provenance:
            if provenance_column.grouped:
                self._asked[provenance_column.origin].append(
                    _Asked(axis, provenance_column, size, self._columns(tap, rows, at, provenance_column.width))
                )
            at += provenance_column.width

    def _kept(self, tap: PlacedTap, asked: Sequence[_Asked], receipts: Sequence[Receipt]) -> tuple[str | None, int]:
        """Store the requested groups by place. Return their view, if any, and the number of keys without a group."""
        keys = " UNION ALL ".join(f"SELECT a AS k1, b AS k2 FROM {each.view}" for each in asked)
        keys = self._view(f"SELECT DISTINCT k1, k2 FROM ({keys})")
        tasks = self._spread(receipts, [np.zeros(0, dtype=np.int64)] * len(receipts))
        groups = self._staging.view(self._name(), self._notes(tap).groups(self._staging.query(f"FROM {tasks}")))
        met = f"FROM {keys} k LEFT JOIN {groups} g ON k.k1 = g.k1 AND {_ALIKE.format('k.k2', 'g.k2')}"
        alone = 0
        # In a `keyless` tap, all rows have one key, and its hashes match. The notes of a `whole` tap, which is keyless
        # too, have partitions as keys (`TracedCache.whole`): the one requested key, a constant, matches all groups.
        if tap.whole and receipts:
            alone = len(self._staging.table(self._name(), f"SELECT k1 FROM {keys} LIMIT 2"))
            if alone > 1:
                raise CaptureError(
                    f"capture recorded several group keys of the {tap.label} (tap {tap.number}), which has one group. "
                    f"Run the step again, and report this error if it recurs"
                )
            met = f"FROM {groups} g CROSS JOIN {keys} k"
        buckets = _tasks_for(receipts)
        # Bucket i becomes partition i, and the last one holds the keys without a group. A task is in one bucket,
        # sorted, so `Starts` sees each block whole and in order.
        rows = self._staging.dealt(
            f"SELECT {'/*+ BROADCAST(k) */' if tap.whole else ''} g.place, k.k1, k.k2, g.n {met}",
            f"IF(place IS NULL, {buckets}, {_bucket(f'shiftright(place, {_TASK})', len(receipts) or 1, buckets)})",
            buckets + 1,
            "place",
        )
        kept = self._staging.keep(self._name(), self._jvm.new("Starts").over(rows), _KEPT)
        *counts, missing = self._staging.counts(kept, buckets + 1)
        if not any(counts):
            missing += alone  # the cross join dropped the key, because there was no group
        return (kept if missing or any(counts) else None), missing

    def _rows_of(self, tap: PlacedTap, receipts: Sequence[Receipt], kept: str, blocks: _Blocks) -> str:
        """Return the view of the kept rows that java/seal/Notes.java reads."""
        if not tap.numbered and not any(provenance_column.grouped for provenance_column in tap.provenance):
            return ""
        tasks = self._tasks(receipts, blocks.ids(len(receipts)))
        # Sorted by place, a task's row comes before its groups, whose blocks count from 1. Columns match by position.
        groups = f"SELECT place, n, NULL, NULL FROM {kept} WHERE place IS NOT NULL"
        return self._dealt(receipts, f"SELECT * FROM {tasks} UNION ALL {groups}")

    def _ranges(self, tap: PlacedTap, kept: str, blocks: _Blocks) -> str:
        """Return the view of each group's ranges of the axis: one for each block that has it, or all if it is alone."""
        groups = f"{kept} k WHERE k.place IS NOT NULL"
        if tap.keyless:
            return self._view(f"SELECT DISTINCT k1, k2, 0L AS start, {blocks.size}L AS n FROM {groups}")
        first = self._staging.put(self._name(), blocks.table)
        return self._view(
            f"SELECT /*+ BROADCAST(f) */ k1, k2, f.first + k.at AS start, k.n FROM {kept} k JOIN {first} f "
            f"ON shiftright(k.place, {_BLOCK}) = f.block"
        )

    def _relation(self, each: _Asked, ranges: str, out: str, *, single: bool) -> Boxes | Parts | Spool:
        """Relate rows to the ranges of their groups, without the one row that each leaves out if `out` has these."""
        buckets = -(-each.rows // BUCKET_ROWS)
        hint = "/*+ BROADCAST(s) */" if single else ""
        asked = f"{each.view} a JOIN {ranges} s ON a.a = s.k1 AND {_ALIKE.format('a.b', 's.k2')}"
        met = f"SELECT {hint} a.row, s.start, s.n, 0L AS out FROM {asked}"
        if out:
            # A group has one range per block. The range that contains `out` is split around it.
            met = (
                "SELECT row, out, inline(array(struct(start, IF(hit, out - start, n) AS n), "
                "struct(out + 1 AS start, IF(hit, start + n - out - 1, 0L) AS n))) FROM (SELECT *, out >= start AND "
                f"out < start + n AS hit FROM (SELECT {hint} a.row, s.start, s.n, o.row AS out "
                f"FROM {asked} LEFT JOIN {out} o ON a.c = o.a))"
            )
        rows = self._staging.dealt(
            f"SELECT row, start, n, out IS NULL AS lost FROM ({met}) WHERE n > 0 OR out IS NULL",
            f"IF(lost, {buckets}, {_bucket('row', each.rows, buckets)})",
            buckets + 1,
            "row",
        )
        name = self._staging.keep(self._name(), rows.drop("lost"), _FOUND)
        if self._staging.counts(name, buckets + 1)[-1]:
            raise CaptureError(
                f"a row of axis {each.axis} excludes a row that is not in its group. Run the step again, and report "
                f"this error if it recurs"
            )
        return _gathered(self._staging.stream(name, ("row", "start", "n"), buckets))

    def _columns(self, tap: PlacedTap, rows: str, first: int, count: int) -> str:
        """Return the view of some noted columns: `row`, `a`, `b`, `c`."""
        columns = self._notes(tap).rows(self._staging.query(f"FROM {rows}"), first, count)
        return self._staging.view(self._name(), columns)

    def _tasks(self, receipts: Sequence[Receipt], ids: Sequence[Int64]) -> str:
        """Return the view of the tasks' notes, with their location and ids, for java/seal/Notes.java."""
        n = len(receipts)
        table = pa.table(
            {
                "place": int64s(np.arange(n) << _TASK),
                "noted": int64s(np.array([receipt.rows for receipt in receipts], dtype=np.int64)),
                "where": pa.array([receipt.place for receipt in receipts], pa.string()),
                "ids": pa.array([each.astype("<i8").tobytes() for each in ids], pa.binary()),
            }
        )
        return self._staging.put(self._name(), table)

    def _spread(self, receipts: Sequence[Receipt], ids: Sequence[Int64]) -> str:
        """Return the same view as `_tasks`, distributed over Spark tasks."""
        return self._dealt(receipts, f"SELECT * FROM {self._tasks(receipts, ids)}")

    def _dealt(self, receipts: Sequence[Receipt], text: str) -> str:
        """Return the view of a query's rows, distributed by the task in their place and sorted by place."""
        buckets = _tasks_for(receipts)
        bucket = _bucket(f"shiftright(place, {_TASK})", len(receipts) or 1, buckets)
        return self._staging.view(self._name(), self._staging.dealt(text, bucket, buckets, "place"))

    def _notes(self, tap: PlacedTap) -> Any:
        return self._jvm.new("Notes", self._noted.folder, tap.width, tap.keyed)

    def _view(self, text: str) -> str:
        return self._staging.view(self._name(), self._staging.query(text))

    def _name(self) -> str:
        return f"t{next(self._names)}"

    # -- data that passes through the driver

    def _blocks(self, kept: str) -> _Blocks:
        """Number the rows of the kept groups."""
        groups = f"{kept} WHERE place IS NOT NULL"
        query = f"SELECT shiftright(place, {_BLOCK}) AS block, sum(n) AS n FROM {groups} GROUP BY 1"
        sums = self._staging.table(self._name(), query).sort_by("block")
        ends = np.cumsum(numbers(sums["n"]).astype(np.int64))
        first = np.concatenate([[0], ends])[: len(ends)]
        return _Blocks(numbers(sums["block"]), first, int(ends[-1]) if len(ends) else 0)

    def _chunks(self, tap: PlacedTap, receipts: Sequence[Receipt], kept: str) -> Iterator[Chunk]:
        """Read the rows of the kept groups."""
        waiting = _by_block(self._staging.stream(kept, ("place",), _tasks_for(receipts)))
        wanted = next(waiting, None)
        size = 0
        for task, receipt in enumerate(receipts):
            if wanted is None or wanted[0] != task:
                continue
            for number, block in enumerate(blocks(tap, receipt, self._noted.folder)):
                if wanted is None or wanted[:2] != (task, number) or block.counts is None:
                    continue
                chunk, _ = kept_rows(block, wanted[2], size)
                size += len(chunk.rows)
                yield chunk
                wanted = next(waiting, None)
        if wanted is not None:
            raise CaptureError(
                f"the records of tap {tap.number} are incomplete (a block of keys is missing); run the step again"
            )


def _tasks_for(receipts: Sequence[Receipt]) -> int:
    """Return the number of Spark tasks that read the notes."""
    return min(len(receipts), _READERS) or 1


def _bucket(number: str, most: int, buckets: int) -> str:
    """Return the SQL expression that maps a number below `most` to one of some buckets, in order."""
    return f"CAST({number} * {buckets} DIV {most} AS INT)"


def _number(block: Any) -> Any:
    """Return the number of a block, or of several, within its task."""
    # 0 in a place is the task itself. These bits can't overflow, and nothing checks that: a task's blocks are large,
    # and a block has at most Tap.MAX_KEYS groups.
    return (block & ((1 << (_TASK - _BLOCK)) - 1)) - 1


def _by_block(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, Int64]]:
    """Yield task, block and group numbers of sorted places. A batch may end within a block."""
    block, held = -1, list[Int64]()
    for batch in batches:
        places = numbers(batch.column(0))
        blocks, groups = places >> _BLOCK, places & ((1 << _BLOCK) - 1)
        heads = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for low, high in itertools.pairwise([*heads, len(places)]):
            if held and int(blocks[low]) != block:
                yield block >> (_TASK - _BLOCK), _number(block), np.concatenate(held)
                held = []
            block = int(blocks[low])
            held.append(groups[low:high])
    if held:
        yield block >> (_TASK - _BLOCK), _number(block), np.concatenate(held)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Boxes | Parts | Spool:
    """Convert ranges, sorted by row, to boxes."""
    gathered = Gathered()
    held: list[Int64] = []
    for batch in batches:
        columns = [numbers(column) for column in batch.columns]
        if held and len(columns[0]):
            # A batch may end within a row, so ranges of the last row wait for the next batch.
            cut = int(np.searchsorted(held[0], columns[0][0]))
            gathered.add(boxes.from_ranges(*(column[:cut] for column in held)))
            columns = [np.concatenate([old[cut:], new]) for old, new in zip(held, columns, strict=True)]
        held = columns if len(columns[0]) else held
    if held:
        gathered.add(boxes.from_ranges(*held))
    return gathered.boxes()
