"""Taps, and the receipts of what they recorded.

A tap is a condition that is always true and records its arguments (java/taps/Tap.java). A row tap is directly below the
write and keeps the order of rows; a key tap is below an aggregate or on the inner side of a semi-join.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from provspark.model.errors import CaptureError
from provspark.tracker.plan.provenance_columns import ProvenanceColumn


@dataclass(frozen=True, slots=True)
class PlacedTap:
    """A tap in a plan. `label` names the operator above it, for people.

    `place` is its number in the plan: a subplan that is read twice is there once, but has a tap for each reading.
    `keyless`: one key covers all rows (a global aggregate), so a key without rows is no contradiction. `numbered`: a
    number of each row follows its provenance columns, by which a provenance column above may leave the row out.
    `coarse`: a function made the rows above, each from some of the rows of its key or from none. `lasting`: the keys
    are the same whenever the plan runs. `whole`: the one key that is requested covers all rows that the tap recorded.
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
        """Number of columns that it records besides keys."""
        return sum(column.width for column in self.provenance) + self.numbered


@dataclass(frozen=True, slots=True)
class Receipt:
    """Report of one task of one stage on what it recorded at a tap."""

    tap: int
    stage: int
    attempt: int
    partition: int
    task: int
    rows: int
    place: str
    """``inline BASE64``, ``file NAME`` or ``failed REASON``."""
    marks: tuple[tuple[str, int], ...]
    """(mark of the output folder, number of rows) in order, for a marked tap."""

    @classmethod
    def parse(cls, text: str) -> Receipt:
        """Parse the text that java/taps/Tap.java writes."""
        head, place, marks = text.split("\n", 2)
        tap, stage, attempt, partition, task, rows = map(int, head.split(" "))
        runs = (mark.split(":") for mark in marks.split())
        named = tuple((base64.b64decode(name).decode(), int(count)) for name, count in runs)
        return cls(tap, stage, attempt, partition, task, rows, place, named)


def counted(text: str) -> dict[int, list[Receipt]]:
    """Return the receipts that count, by tap: of its last stage, the last attempt at each partition.

    A tap can run in two stages: Spark samples for a range partitioning in a stage of its own before the one that
    counts.

    Raises
    ------
    CaptureError
        A task could not keep its records.
    """
    return {tap: _last(receipts) for tap, receipts in by_tap(text).items()}


def by_tap(text: str) -> dict[int, list[Receipt]]:
    """Return all receipts in the text of java/plan/Rewrite.java, by tap."""
    taps: dict[int, list[Receipt]] = {}
    for part in text.split("\x03"):
        if part:
            receipt = Receipt.parse(part)
            taps.setdefault(receipt.tap, []).append(receipt)
    return taps


def kept(receipt: Receipt) -> Receipt:
    """Return the receipt; raise `CaptureError` if its task could not keep its records."""
    if receipt.place.startswith("failed "):
        raise CaptureError(
            f"task {receipt.task} could not record its lineage: {receipt.place[7:]}; fix this and run the step again"
        )
    return receipt


def _last(receipts: list[Receipt]) -> list[Receipt]:
    stage = max(r.stage for r in receipts)
    by_partition: dict[int, Receipt] = {}
    for r in sorted((r for r in receipts if r.stage == stage), key=lambda r: (r.attempt, r.task)):
        by_partition[r.partition] = r
    return [kept(by_partition[p]) for p in sorted(by_partition)]
