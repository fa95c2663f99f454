"""Sealing with the script's own Spark: keys are resolved by jobs, so that nothing in the driver grows with rows.

Executors read what taps noted (java/seal/Notes.java), join the keys that rows ask for with the groups that have them,
and leave each tensor's ranges sorted by row. The driver streams these, as it streams the addresses that taps noted: of
the groups that are kept it holds one number for each block of notes. Axes are numbered as in `draft.py`.
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
"""Noted rows to a partition of a shuffle, as far as `_MOST_PARTITIONS` go."""
_MOST_PARTITIONS = 2000
"""Of a shuffle with more of them Spark keeps blocks' sizes as averages (HighlyCompressedMapStatus)."""
_READERS = 400
"""Tasks of Spark's, at most, that read the notes of one tap."""
_KEPT = "place BIGINT, k1 BIGINT, k2 BIGINT, n BIGINT, at BIGINT"
"""Groups, `place` null for a key without one; `at`: kept rows before it in its block (java/seal/Starts.java)."""
_FOUND = "row BIGINT, start BIGINT, n BIGINT"
_TASK, _BLOCK = 40, 20
"""Bits of a place: java/seal/Notes.java."""
_ALIKE = "({} ^ {}) = 0"
"""Equality of two keys' second halves in a form by which Spark joins no rows, but filters those that it joined by the
first: a join by both would sort by two columns, and by one long alone Spark sorts by radix, without comparing rows."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A provenance column that refers to groups of a tap; the view of rows and keys (row, a, b; c: left out)."""

    axis: int
    provenance_column: ProvenanceColumn
    rows: int
    """Of its axis."""
    view: str


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Blocks with groups that are kept, in order, and the first id of each on the axis."""

    block: Int64
    """Places of blocks, without the bits of groups."""
    first: Int64
    size: int
    """Of the axis."""

    @property
    def table(self) -> pa.Table:
        """The same for queries: block, first."""
        return pa.table({"block": int64s(self.block), "first": int64s(self.first)})

    def ids(self, tasks: int) -> list[Int64]:
        """Return by task the first id of each of its blocks, 0 for those without."""
        task, block = self.block >> (_TASK - _BLOCK), _number(self.block)
        parts = []
        for low, high in itertools.pairwise(np.searchsorted(task, np.arange(tasks + 1)).tolist()):
            ids = np.zeros(int(block[high - 1]) + 1 if high > low else 0, dtype=np.int64)
            ids[block[low:high]] = self.first[low:high]
            parts.append(ids)
        return parts


def seal_by_jobs(jvm: Jvm, noted: Noted, site: str = "") -> PendingWrite:
    """Resolve a write's notes to tensors, the same as `provspark.tracker.seal.in_driver.seal` does.

    Raises
    ------
    CaptureError
        The notes contradict each other: a key without its group, more rows written than noted.
    """
    places = {tap.place for tap in noted.taps}
    total = sum(receipt.rows for place in places for receipt in noted.receipts.get(place, []))
    partitions = min(_MOST_PARTITIONS, -(-total // _SHUFFLE_ROWS) or 1)
    with Staging(jvm, noted.folder, partitions) as staging:
        return _ByJobs(jvm, noted, staging).run(site)


class _ByJobs:
    """One write's sealing, from the top tap down."""

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
        """Relate an axis to the rows that its provenance columns point at; if none does, don't read its notes."""
        if all(provenance_column.grouped for provenance_column in provenance):
            return []
        return self._draft.located(provenance, axis, chunks)

    def _top(self, tap: PlacedTap) -> None:
        """The output's own provenance columns."""
        self._draft.tensors += self._located(tap.provenance, 0, written_chunks(self._noted, tap))
        receipts = self._noted.of(tap)
        if receipts and any(provenance_column.grouped for provenance_column in tap.provenance):
            # What `ids` are goes by the tap (Notes.java): pairs for an ordered one, firsts of blocks in `_rows_of`.
            ids = [np.stack(written_places(self._noted, receipt), axis=1).ravel() for receipt in receipts]
            self._ask(tap, 0, self._draft.axes[0].size, self._spread(receipts, ids))

    def _inner(self, tap: PlacedTap) -> None:
        """The derivations of the groups that are asked for."""
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

    # -- what stays on executors

    def _ask(self, tap: PlacedTap, axis: int, size: int, rows: str) -> None:
        """Note who of an axis asks for groups."""
        at = 0
        for provenance_column in tap.provenance:
            if provenance_column.grouped:
                self._asked[provenance_column.origin].append(
                    _Asked(axis, provenance_column, size, self._columns(tap, rows, at, provenance_column.width))
                )
            at += provenance_column.width

    def _kept(self, tap: PlacedTap, asked: Sequence[_Asked], receipts: Sequence[Receipt]) -> tuple[str | None, int]:
        """Keep the groups that are asked for, by place, and count keys without one; None if nobody asks."""
        keys = " UNION ALL ".join(f"SELECT a AS k1, b AS k2 FROM {each.view}" for each in asked)
        keys = self._view(f"SELECT DISTINCT k1, k2 FROM ({keys})")
        tasks = self._spread(receipts, [np.zeros(0, dtype=np.int64)] * len(receipts))
        groups = self._staging.view(self._name(), self._notes(tap).groups(self._staging.query(f"FROM {tasks}")))
        met = f"FROM {keys} k LEFT JOIN {groups} g ON k.k1 = g.k1 AND {_ALIKE.format('k.k2', 'g.k2')}"
        alone = 0
        # In a `keyless` tap one key stands for all rows, and is found by its hashes. What a `whole` one, keyless too,
        # noted has partitions as keys (`TracedCache.whole`): the one key asked for, a constant, meets all groups.
        if tap.whole and receipts:
            alone = len(self._staging.table(self._name(), f"SELECT k1 FROM {keys} LIMIT 2"))
            if alone > 1:
                raise CaptureError(f"tap {tap.number} is asked for more than one key")
            met = f"FROM {groups} g CROSS JOIN {keys} k"
        buckets = _tasks_for(receipts)
        # Bucket i becomes partition i, and the last holds the keys without a group. A task is in one bucket, sorted: so
        # a block is whole and in order where `Starts` counts it.
        rows = self._staging.dealt(
            f"SELECT {'/*+ BROADCAST(k) */' if tap.whole else ''} g.place, k.k1, k.k2, g.n {met}",
            f"IF(place IS NULL, {buckets}, {_bucket(f'shiftright(place, {_TASK})', len(receipts) or 1, buckets)})",
            buckets + 1,
            "place",
        )
        kept = self._staging.keep(self._name(), self._jvm.new("Starts").over(rows), _KEPT)
        *counts, missing = self._staging.counts(kept, buckets + 1)
        if not any(counts):
            missing += alone  # without a group the cross join lost the key
        return (kept if missing or any(counts) else None), missing

    def _rows_of(self, tap: PlacedTap, receipts: Sequence[Receipt], kept: str, blocks: _Blocks) -> str:
        """Tell for java/seal/Notes.java which rows are kept."""
        if not tap.numbered and not any(provenance_column.grouped for provenance_column in tap.provenance):
            return ""
        tasks = self._tasks(receipts, blocks.ids(len(receipts)))
        # Sorted by place, a task's row comes before its groups, whose blocks count from 1. Columns go by position.
        groups = f"SELECT place, n, NULL, NULL FROM {kept} WHERE place IS NOT NULL"
        return self._dealt(receipts, f"SELECT * FROM {tasks} UNION ALL {groups}")

    def _ranges(self, tap: PlacedTap, kept: str, blocks: _Blocks) -> str:
        """Where each group stands on the axis: one range in each block that has it; all of it if there is one group."""
        groups = f"{kept} k WHERE k.place IS NOT NULL"
        if tap.keyless:
            return self._view(f"SELECT DISTINCT k1, k2, 0L AS start, {blocks.size}L AS n FROM {groups}")
        first = self._staging.put(self._name(), blocks.table)
        return self._view(
            f"SELECT /*+ BROADCAST(f) */ k1, k2, f.first + k.at AS start, k.n FROM {kept} k JOIN {first} f "
            f"ON shiftright(k.place, {_BLOCK}) = f.block"
        )

    def _relation(self, each: _Asked, ranges: str, out: str, *, single: bool) -> Boxes | Parts | Spool:
        """Relate rows to the ranges of their groups, but for the one row that each leaves out where `out` has these."""
        buckets = -(-each.rows // BUCKET_ROWS)
        hint = "/*+ BROADCAST(s) */" if single else ""
        asked = f"{each.view} a JOIN {ranges} s ON a.a = s.k1 AND {_ALIKE.format('a.b', 's.k2')}"
        met = f"SELECT {hint} a.row, s.start, s.n, 0L AS out FROM {asked}"
        if out:
            # A group has a range in each block: the one with `out` becomes two, of the rows before and after it.
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
            raise CaptureError("a row was kept that its group has not")
        return _gathered(self._staging.stream(name, ("row", "start", "n"), buckets))

    def _columns(self, tap: PlacedTap, rows: str, first: int, count: int) -> str:
        """Name what was noted in some columns: row, a, b, c."""
        columns = self._notes(tap).rows(self._staging.query(f"FROM {rows}"), first, count)
        return self._staging.view(self._name(), columns)

    def _tasks(self, receipts: Sequence[Receipt], ids: Sequence[Int64]) -> str:
        """Name where tasks left their notes, and the ids of what they noted, for java/seal/Notes.java."""
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
        """Name the same, a task of Spark's for each."""
        return self._dealt(receipts, f"SELECT * FROM {self._tasks(receipts, ids)}")

    def _dealt(self, receipts: Sequence[Receipt], text: str) -> str:
        """Name rows that stand in tasks' places, in order."""
        buckets = _tasks_for(receipts)
        bucket = _bucket(f"shiftright(place, {_TASK})", len(receipts) or 1, buckets)
        return self._staging.view(self._name(), self._staging.dealt(text, bucket, buckets, "place"))

    def _notes(self, tap: PlacedTap) -> Any:
        return self._jvm.new("Notes", self._noted.folder, tap.width, tap.keyed)

    def _view(self, text: str) -> str:
        return self._staging.view(self._name(), self._staging.query(text))

    def _name(self) -> str:
        return f"t{next(self._names)}"

    # -- what passes through the driver

    def _blocks(self, kept: str) -> _Blocks:
        """Number the rows of groups that are kept."""
        groups = f"{kept} WHERE place IS NOT NULL"
        query = f"SELECT shiftright(place, {_BLOCK}) AS block, sum(n) AS n FROM {groups} GROUP BY 1"
        sums = self._staging.table(self._name(), query).sort_by("block")
        ends = np.cumsum(numbers(sums["n"]).astype(np.int64))
        first = np.concatenate([[0], ends])[: len(ends)]
        return _Blocks(numbers(sums["block"]), first, int(ends[-1]) if len(ends) else 0)

    def _chunks(self, tap: PlacedTap, receipts: Sequence[Receipt], kept: str) -> Iterator[Chunk]:
        """Read the rows of groups that are kept."""
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
            raise CaptureError(f"tap {tap.number} left no keys")


def _tasks_for(receipts: Sequence[Receipt]) -> int:
    """Into how many tasks the reading of notes is divided."""
    return min(len(receipts), _READERS) or 1


def _bucket(number: str, most: int, buckets: int) -> str:
    """Which of some buckets a number below `most` goes to, in order; for queries."""
    return f"CAST({number} * {buckets} DIV {most} AS INT)"


def _number(block: Any) -> Any:
    """Number of a block, or of several, among its task's."""
    # 0 in a place is the task itself. A task's blocks are too large, and a block's groups too few (Tap.MAX_KEYS), for
    # these bits to overflow: nothing checks it.
    return (block & ((1 << (_TASK - _BLOCK)) - 1)) - 1


def _by_block(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, Int64]]:
    """Yield task, block and the numbers of its groups, of sorted places; a batch may end within a block."""
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
    """Make boxes of ranges sorted by row, those of one row together."""
    gathered = Gathered()
    held: list[Int64] = []
    for batch in batches:
        columns = [numbers(column) for column in batch.columns]
        if held and len(columns[0]):
            # A batch may end within a row: what is held of the next batch's first row waits for the rest.
            cut = int(np.searchsorted(held[0], columns[0][0]))
            gathered.add(boxes.from_ranges(*(column[:cut] for column in held)))
            columns = [np.concatenate([old[cut:], new]) for old, new in zip(held, columns, strict=True)]
        held = columns if len(columns[0]) else held
    if held:
        gathered.add(boxes.from_ranges(*held))
    return gathered.boxes()
