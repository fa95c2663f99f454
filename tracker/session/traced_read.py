"""Traced reads on the driver: the plan records where each returned row comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from provspark.model.datasets import Dataset, Field
from provspark.model.errors import CaptureError, UnsupportedPlanError
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.model.writes import Untracked
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.seal.driver_reads import every_stage, pieces, seal_read
from provspark.tracker.seal.notes import Noted
from provspark.tracker.session.caches import Caches
from provspark.tracker.session.coarse_read import CoarseRead
from provspark.tracker.session.driver_reads import Known
from provspark.tracker.session.troubles import log
from provspark.tracker.sinks import Written
from provspark.tracker.sources.held_scans import KeptScan
from provspark.tracker.spark.jvm import Jvm
from provspark.tracker.taps.taps import Receipt, by_tap, counted

__all__ = ["Ask", "TracedRead", "TracedRows"]

_DEALT = (
    "it distributes rows by a hash of all columns, so those that capture adds would put the rows in another order. Pass"
    " columns to repartition"
)
_PLACED = (
    "its result depends on the task that a row is in, and repartition(n) below it distributes rows by a hash of all"
    " columns, including those that capture adds. Pass columns to repartition"
)
_UNKNOWN = (
    "for rows with nulls, its result depends on when Spark's optimizer simplifies it. Write NOT IN and AND in place of"
    " NOT"
)


@dataclass(frozen=True, slots=True)
class Ask:
    """How an action reads rows.

    Parameters
    ----------
    limit : {"", "first", "last"}
        Whether it returns only the first or last rows.
    number : int
        Number of rows that it then returns.
    stops : bool
        Whether Spark stops reading as soon as a limit on top of the plan has its rows.
    piecewise : bool
        Whether each partition is computed in a job of its own.
    """

    limit: str = ""
    number: int = 0
    stops: bool = False
    piecewise: bool = False


class TracedRead:
    """A read with a rewritten plan that records where its rows come from. Create it before the call runs.

    Parameters
    ----------
    jvm : Jvm
    caches : Caches
    java : provspark.intercept.Reads
    folder : str
        URL of the read's own folder for sidecar files.
    analysed : LogicalPlan
        The user's analysed plan.
    ask : Ask

    Raises
    ------
    UnsupportedPlanError
        Capture can't follow the plan, or the rewritten plan would return other rows.
    """

    def __init__(self, jvm: Jvm, caches: Caches, java: Any, folder: str, analysed: Any, ask: Ask) -> None:
        whole = caches.current(jvm, analysed)
        below = None
        if ask.limit == "first" and java.sorted(whole):
            whole, stops = java.first(whole, ask.number), False
        else:
            below = java.limited(whole) if ask.stops else None
            stops = ask.limit == "first" or below is not None
        plan = whole if below is None else below
        _refuse(jvm, plan, analysed)
        self._folder, self._ask = folder, ask
        self._several = stops or ask.limit == "last" or ask.piecewise
        self._rewriter = rewriter = Rewriter(jvm, folder, caches)
        numbered = caches.operations.numbered(plan)
        traced = rewriter.run(numbered)
        top = rewriter.tapped(rewriter.java.tapRows(traced.number, None), traced.provenance, "output", keyed=False)
        sound = rewriter.sound(rewriter.java.userColumns(top.number, numbered.output().size()), numbered)
        made = rewriter.nullable(sound, numbered, optimised=False)
        kept = {id(s): s if isinstance(s, KeptScan) else KeptScan(s) for s in rewriter.scans}
        self._scans = [kept[id(scan)] for scan in rewriter.scans]
        self.rows: Any = jvm.rows(made if below is None else java.above(whole, below, made))
        """Java Dataset to run the script's call with."""

    def settle(self, dataset: Dataset) -> None:
        """Count the rows of the sources in a dataset that is about to change."""
        for scan in self._scans:
            if scan.dataset.meets(dataset):
                scan.settle()

    def resolve(self, output: PendingVersion, returned: range, known: Known, site: str) -> PendingWrite:
        """Relate returned rows, given by their positions, to their sources.

        Raises
        ------
        CaptureError
            Notes, rows and inputs contradict each other.
        """
        rewriter = self._rewriter
        tapped = by_tap(rewriter.java.receipts())
        if self._several:
            receipts: dict[int, list[Receipt]] = {tap: every_stage(some) for tap, some in tapped.items()}
        else:
            receipts = counted(rewriter.java.receipts())
        receipts |= rewriter.lent_receipts()
        top = every_stage(tapped.get(rewriter.taps[-1].place, []))
        noted = sum(receipt.rows for receipt in top)
        if not self._several and noted != returned.stop:
            raise CaptureError(
                f"the call returned {returned.stop} rows, but capture recorded {noted}; run the step again"
            )
        for scan in self._scans:
            scan.settle()
        scans = [scan.finish() for scan in self._scans]
        for version, _ in scans:
            known.setdefault(version.files.identity(version.dataset), version)
        none = np.zeros(0, dtype=np.int64)
        written = Written(output, none, none, none, none)
        notes = Noted(rewriter.taps, receipts, self._folder, scans, written)
        return seal_read(notes, pieces(top, returned, last=self._ask.limit == "last"), site)


@dataclass(frozen=True, slots=True)
class TracedRows:
    """`Read` of rows that are followed one by one.

    Parameters
    ----------
    trace : TracedRead
    returned : range
        Positions of the rows among all that the call returns. They count backward if it returns the last rows.
    otherwise : CoarseRead
        Read to store instead if the notes are lost.
    """

    trace: TracedRead
    returned: range
    otherwise: CoarseRead

    @property
    def action(self) -> str:
        """Method of the call."""
        return self.otherwise.action

    @property
    def site(self) -> str:
        """``file:line`` of the call."""
        return self.otherwise.site

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.returned)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns of the rows."""
        return self.otherwise.fields

    @property
    def single(self) -> bool:
        """False: these are rows."""
        return False

    def settle(self, dataset: Dataset, known: Known) -> None:
        """Count the rows of the sources in a dataset that is about to change."""
        self.trace.settle(dataset)

    def resolve(self, output: PendingVersion, known: Known) -> PendingWrite:
        """Return the read with its edges. If the notes are lost, each row has edges to all rows read."""
        try:
            return self.trace.resolve(output, self.returned, known, self.site)
        except Exception as e:
            log.debug("provspark: the notes of a read are lost, so it is coarse", exc_info=e)
            why = Untracked(self.action, f"capture could not follow its rows one by one: {e}", self.site)
        return replace(self.otherwise, rows=self.rows, reason=why).resolve(output, known)


def _refuse(jvm: Jvm, plan: Any, analysed: Any) -> None:
    """Raise UnsupportedPlanError if the rewritten plan could return other rows, or the same ones in another order."""
    for kind, why in (("Places", _PLACED), ("Unknowns", _UNKNOWN)):
        node = str(jvm.new(kind).dependent(plan))
        if node:
            raise UnsupportedPlanError(node, why)
    node = str(jvm.new("Places").dealt(plan))
    if node:
        raise UnsupportedPlanError(node, _DEALT, str(jvm.plans.site(analysed, node)))
