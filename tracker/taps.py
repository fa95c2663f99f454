"""Taps: what is noted on the way, and what came of it.

A tap is a condition that is always true and notes its arguments (java/Tap.java). A row tap stands right below the write
and keeps the rows' order; a key tap stands below an aggregate or on the inner side of a semi-join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from provspark.errors import CaptureError
from provspark.tracker.jvm import Jvm
from provspark.tracker.legs import Leg, Traced

_UDF_ARGUMENTS = 10


@dataclass(frozen=True, slots=True)
class Tap:
    """A tap that stands in a plan. `label` names the operator above it, for people.

    `keyless` says that one key stands for all rows (a global aggregate): then a key without rows is no contradiction.
    """

    number: int
    legs: tuple[Leg, ...]
    keyed: bool
    label: str
    keyless: bool = False

    @property
    def width(self) -> int:
        """Number of columns of its legs."""
        return sum(len(leg.attributes) for leg in self.legs)


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
        """Read what java/Tap.java writes."""
        head, place, marks = text.split("\n", 2)
        tap, stage, attempt, partition, task, rows = map(int, head.split(" "))
        runs = tuple((m.split("\x01")[0], int(m.split("\x01")[1])) for m in marks.split("\x02") if m)
        return cls(tap, stage, attempt, partition, task, rows, place, runs)


class Taps:
    """The taps of one write.

    Parameters
    ----------
    jvm : Jvm
    folder : str
        URL of the folder for sidecars, reachable from the executors.
    """

    def __init__(self, jvm: Jvm, folder: str) -> None:
        self._jvm = jvm
        self._folder = folder
        self._receipts = jvm.jvm.org.apache.spark.util.CollectionAccumulator()
        jvm.spark.sparkContext._jsc.sc().register(self._receipts)
        self.placed: list[Tap] = []

    def rows(self, traced: Traced, mark: Any | None) -> Any:
        """Return the plan with the top tap above it; `mark` is a string expression that names the output folder."""
        return self._place(traced, [], "output", mark)

    def keyed(self, traced: Traced, hashes: list[Any], label: str, *, keyless: bool = False) -> tuple[Any, int]:
        """Return the plan with a key tap above it, and the tap's number; `hashes` are the two columns of the key."""
        return self._place(traced, hashes, label, None, keyless), self.placed[-1].number

    def _place(self, traced: Traced, hashes: list[Any], label: str, mark: Any | None, keyless: bool = False) -> Any:
        jvm = self._jvm
        tap = Tap(len(self.placed), traced.legs, bool(hashes), label, keyless)
        self.placed.append(tap)
        made = jvm.new("Tap", self._folder, tap.number, tap.width, tap.keyed, mark is not None, self._receipts)
        numbers = [*traced.attributes, *hashes] or [jvm.plans.zero()]
        if len(numbers) + (mark is not None) > _UDF_ARGUMENTS:
            numbers = [jvm.plans.array(jvm.jlist(numbers))]
        arguments = [*([mark] if mark is not None else []), *numbers]
        condition = jvm.call(jvm.udf(made, len(arguments), jvm.data_type("Boolean")), arguments)
        return jvm.logical.Filter(condition, traced.plan)

    def receipts(self) -> dict[int, list[Receipt]]:
        """Return by tap the receipts that count: of its last stage, of each partition the last attempt.

        A stage can run twice: the sampling of a range partitioning is a stage of its own before the one that counts.

        Raises
        ------
        CaptureError
            A task could not keep what it noted.
        """
        text = self._jvm.plans.texts(self._receipts.value())
        found: dict[int, list[Receipt]] = {}
        for part in text.split("\x03"):
            if part:
                receipt = Receipt.parse(part)
                found.setdefault(receipt.tap, []).append(receipt)
        return {tap: _last(receipts) for tap, receipts in found.items()}


def _last(receipts: list[Receipt]) -> list[Receipt]:
    stage = max(r.stage for r in receipts)
    by_partition: dict[int, Receipt] = {}
    for r in sorted((r for r in receipts if r.stage == stage), key=lambda r: (r.attempt, r.task)):
        by_partition[r.partition] = r
    for r in by_partition.values():
        if r.place.startswith("failed "):
            raise CaptureError(f"a task could not note its lineage: {r.place[7:]}")
    return [by_partition[p] for p in sorted(by_partition)]
