"""A captured write: rewrites the plan before Spark runs it, and seals its notes afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from provspark.model.pending import PendingWrite
from provspark.tracker.families.registry import operation_rule
from provspark.tracker.plan.operations import built
from provspark.tracker.plan.rewrite import Rewriter
from provspark.tracker.seal.notes import Noted
from provspark.tracker.seal.place import sealed, way
from provspark.tracker.session.caches import Caches
from provspark.tracker.session.possible_edges import Behind, attached
from provspark.tracker.session.read_inputs import Inputs, scanned
from provspark.tracker.sinks import Output, TapRuns, WriteMetrics
from provspark.tracker.sources import Scan
from provspark.tracker.sources.held_scans import KeptScan
from provspark.tracker.sources.parquet import ParquetScan
from provspark.tracker.spark.jvm import Jvm
from provspark.tracker.taps.taps import Receipt


class TracedWrite:
    """A write with a rewritten plan that records where its rows come from.

    Parameters
    ----------
    jvm : Jvm
    sink : Output
    plan : LogicalPlan
        The user's plan, analysed, with cached parts replaced by their cache entries.
    taps : str
        URL of the folder for sidecar files.
    caches : Caches
        What the script caches.
    behind : Behind
        Reads on the driver that the rows may come from.

    Raises
    ------
    UnsupportedPlanError
        Capture can't follow the plan exactly.
    """

    def __init__(self, jvm: Jvm, sink: Output, plan: Any, taps: str, caches: Caches, behind: Behind) -> None:
        self.jvm = jvm
        self._sink = sink
        self._folder = taps
        self._way = way(jvm)
        self._behind = behind
        self._rewriter = rewriter = Rewriter(jvm, taps, caches)
        plan = caches.operations.numbered(plan)
        self.draft = caches.operations.read(jvm, plan)
        traced = rewriter.run(plan)
        shaped, mark = sink.shape(rewriter.java.plan(traced.number))
        number = traced.number if mark is None else rewriter.java.replaced(traced.number, shaped)
        top = rewriter.tapped(rewriter.java.tapRows(number, mark), traced.provenance, "output", keyed=False)
        sound = rewriter.sound(rewriter.java.userColumns(top.number, plan.output().size()), plan)
        self.plan = rewriter.nullable(sound, plan, optimised=not sink.analysed)
        rewriter.scans[:] = [self._before_it_goes(scan) for scan in rewriter.scans]

    def read(self) -> Inputs:
        """Return the inputs of the write."""
        return scanned(self._rewriter.scans)

    def _grouped(self, receipts: dict[int, list[Receipt]]) -> int:
        """Return the number of input rows of the aggregate whose groups were all written, or -1 if there is none."""
        node = self._rewriter.root
        while (
            node is not None and operation_rule(node.kind).as_many and len(node.children) == 1 and not node.subqueries
        ):
            node = node.children[0]
        tap = None if node is None or node.subqueries else self._rewriter.taps_of.get(node.number)
        if tap is None:
            return -1
        return sum(r.rows for r in receipts.get(self._rewriter.taps[tap].place, []))

    def _before_it_goes(self, scan: Scan) -> Scan:
        """Count the rows of a Parquet input that the write may overwrite."""
        kept = scan if isinstance(scan, KeptScan) else KeptScan(scan)
        if not isinstance(kept.scan, ParquetScan) or not scan.dataset.meets(self._sink.dataset):
            return scan
        kept.settle()
        return kept

    def seal(self, metrics: WriteMetrics | None, site: str) -> PendingWrite:
        """Resolve the taps' notes after Spark's commit. `metrics`: Spark's own, if it has any.

        Raises
        ------
        CaptureError
            Notes, files and inputs contradict each other.
        """
        receipts = self._rewriter.receipts()
        top = receipts.get(self._rewriter.taps[-1].place, [])
        tapped = [TapRuns(r.partition, r.marks or (("", r.rows),)) for r in top]
        written = self._sink.finish(tapped, metrics)
        finished = {id(scan): scan.finish() for scan in {id(s): s for s in self._rewriter.scans}.values()}
        scans = [finished[id(scan)] for scan in self._rewriter.scans]
        noted = Noted(self._rewriter.taps, receipts, self._folder, scans, written)
        made = sealed(self.jvm, noted, self._way, site)
        if self.draft is not None:
            rows = int(written.counts.sum())
            about = made.axes, self._rewriter.paths, rows, self._grouped(receipts)
            made = replace(made, operations=built(self.draft, *about))
        return attached(self._sink.complete(made), (written.rows, written.counts), self._behind)
