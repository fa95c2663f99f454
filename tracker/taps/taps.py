"""Taps: what is noted on the way, and what came of it.

A tap is a condition that is always true and notes its arguments (java/taps/Tap.java). A row tap stands right below the
write and keeps the rows' order; a key tap stands below an aggregate or on the inner side of a semi-join.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from provspark.model.errors import CaptureError
from provspark.tracker.plan.provenance_columns import ProvenanceColumn


@dataclass(frozen=True, slots=True)
class PlacedTap:
    """A tap that stands in a plan. `label` names the operator above it, for people.

    `place` is its number in the plan: what is read twice stands there once, and has a tap for each reading. `keyless`
    says that one key stands for all rows (a global aggregate): then a key without rows is no contradiction. `numbered`
    says that a number of each row follows its provenance columns, by which a provenance column above may leave it out.
    `coarse` says that a row above need not be owed to each row of its key: a function made it, of some of them or of
    none. `lasting` says that its keys are the same whenever the plan is run. `whole` says that the one key that is
    asked for stands for all that it noted.
    """

    number: int
    provenance: tuple[ProvenanceColumn, ...]
    keyed: bool
    label: str
    place: int
    keyless: bool = False
    numbered: bool = False
    coarse: bool = False
    lasting: bool = True
    whole: bool = False

    @property
    def width(self) -> int:
        """Number of columns that it notes beside keys."""
        return sum(column.width for column in self.provenance) + self.numbered


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one task of one stage says that it noted."""

    tap: int
    stage: int
    attempt: int
    partition: int
    task: int
    rows: int
    place: str
    """``inline BASE64``, ``file NAME`` or ``failed REASON``."""
    marks: tuple[tuple[str, int], ...]
    """(output folder's mark, rows) in order, for a marked tap."""

    @classmethod
    def parse(cls, text: str) -> Receipt:
        """Read what java/taps/Tap.java writes."""
        head, place, marks = text.split("\n", 2)
        tap, stage, attempt, partition, task, rows = map(int, head.split(" "))
        runs = (mark.split(":") for mark in marks.split())
        named = tuple((base64.b64decode(name).decode(), int(count)) for name, count in runs)
        return cls(tap, stage, attempt, partition, task, rows, place, named)


def counted(text: str) -> dict[int, list[Receipt]]:
    """Return by tap the receipts that count: of its last stage, of each partition the last attempt.

    A stage can run twice: the sampling of a range partitioning is a stage of its own before the one that counts.

    Raises
    ------
    CaptureError
        A task could not keep what it noted.
    """
    return {tap: _last(receipts) for tap, receipts in by_tap(text).items()}


def by_tap(text: str) -> dict[int, list[Receipt]]:
    """Return all receipts of java/plan/Rewrite.java, by tap."""
    taps: dict[int, list[Receipt]] = {}
    for part in text.split("\x03"):
        if part:
            receipt = Receipt.parse(part)
            taps.setdefault(receipt.tap, []).append(receipt)
    return taps


def kept(receipt: Receipt) -> Receipt:
    """Return the receipt; CaptureError if its task could not keep what it noted."""
    if receipt.place.startswith("failed "):
        raise CaptureError(f"a task could not note its lineage: {receipt.place[7:]}")
    return receipt


def _last(receipts: list[Receipt]) -> list[Receipt]:
    stage = max(r.stage for r in receipts)
    by_partition: dict[int, Receipt] = {}
    for r in sorted((r for r in receipts if r.stage == stage), key=lambda r: (r.attempt, r.task)):
        by_partition[r.partition] = r
    return [kept(by_partition[p]) for p in sorted(by_partition)]
