"""RDDs between one DataFrame and another. Capture can't see what functions over RDDs do with rows.

The `rdd` of a DataFrame is that of its traced plan, with a tap on top that notes rows by partition. Spark knows from
which RDDs another one was made (java/session/RddAncestors.java), so capture follows a DataFrame made from an RDD to its
source DataFrames. Each row comes from all rows of the partition that it was computed from or, after a shuffle, from all
rows. The write is coarse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from provspark.model.datasets import Files
from provspark.model.errors import UnsupportedPlanError
from provspark.model.pending import PendingVersion
from provspark.tracker.families.cached import RDD
from provspark.tracker.plan.provenance_columns import ProvenanceColumn, Traced
from provspark.tracker.plan.rewrite import PlanNode, Rewriter
from provspark.tracker.session.troubles import log
from provspark.tracker.sources import Segments
from provspark.tracker.sources.held_scans import KeptScan
from provspark.tracker.sources.local import FORMAT, local_dataset

if TYPE_CHECKING:
    from provspark.tracker.session.plan_tracer import PlanTracer
    from provspark.tracker.session.traced_cache import TracedCache
    from provspark.tracker.spark.jvm import Jvm

_BATCH = "foreachBatch"
_STREAMED = (
    "the rows of a streaming batch are not captured. Write the batch to files, and process the files in a separate step"
)
_OTHERS = {
    "HadoopRDD": "files read as an RDD. Read them with spark.read",
    "NewHadoopRDD": "files read as an RDD. Read them with spark.read",
    "ReliableCheckpointRDD": "an RDD's checkpoint. Checkpoint a DataFrame instead",
    "LocalCheckpointRDD": "an RDD's checkpoint. Checkpoint a DataFrame instead",
}


@dataclass(frozen=True, slots=True)
class _RddOrigin:
    """DataFrame of an RDD: its session, its analysed plan, and the traced plan or why there is none."""

    jvm: Jvm
    analysed: Any
    held: TracedCache | UnsupportedPlanError


class HandedScan:
    """Scan of all rows that the script passed to an RDD. Functions of the RDD hide which row became which.

    Parameters
    ----------
    content : function
        Returns a text that identifies the rows.
    rows : int
        Number of rows.
    site : str
        ``file:line`` of the call that passed the rows.
    """

    plan = address = listing = None

    def __init__(self, content: Callable[[], str], rows: int, site: str) -> None:
        self._content, self._rows = content, rows
        self.dataset = local_dataset(site)

    def finish(self) -> tuple[PendingVersion, Segments]:
        """Return the version of the rows. There are no segments, because the rows have no addresses."""
        files = Files.of([(self._content(), 0, 0, self._rows, False)])
        none = np.zeros(0, dtype=np.int64)
        return PendingVersion(self.dataset, files, FORMAT), Segments(none, none, none)


class Rdds:
    """RDDs of one SparkContext that were made from DataFrames or from rows of the script.

    Parameters
    ----------
    jvm : Jvm
    tracer : PlanTracer
    current : function
        Returns a session's analysed plan with cached parts replaced by their cache entries.
    """

    def __init__(self, jvm: Jvm, tracer: PlanTracer, current: Callable[[Jvm, Any], Any]) -> None:
        self._java: Any = jvm.new("RddAncestors")
        self._tracer, self._current = tracer, current
        self._origins: list[_RddOrigin | HandedScan | UnsupportedPlanError] = []

    def of_frame(self, jvm: Jvm, frame: Any, take: Callable[[Any], Any]) -> Any:
        """Return the PySpark RDD that `take` makes of a Java Dataset, or of its traced form if it can be traced."""
        analysed = frame.queryExecution().analyzed()
        held: TracedCache | UnsupportedPlanError
        traced = frame
        try:
            held, plan = self._tracer.tapped(jvm, self._current(jvm, analysed), "RDD", coarse=True)
            traced = jvm.rows(plan)
        except Exception as e:
            held = self._tracer.untraced(jvm, analysed, e, RDD, "the DataFrame of an RDD")
        rdd = take(traced)
        try:
            self._note(rdd._jrdd, _RddOrigin(jvm, analysed, held))
        except Exception as e:  # a DataFrame made from it reports that its rows are unknown
            log.debug("provspark: the rows of an RDD are not known", exc_info=e)
        return rdd

    def handed(self, rdd: Any, rows: int, content: str, site: str) -> None:
        """Register a JavaRDD of rows that the script passed in. `content` identifies them; if "", their hash does."""
        self._note(rdd, HandedScan(lambda: content or str(self._java.digest(rdd)), rows, site))

    def batch(self, frame: Any) -> None:
        """Register a Java Dataset that holds a batch of a stream."""
        plan = frame.queryExecution().analyzed()
        self._java.noteLeaves(plan, self._numbered(UnsupportedPlanError(_BATCH, _STREAMED)))

    def _note(self, rdd: Any, origin: _RddOrigin | HandedScan) -> None:
        self._java.note(rdd.rdd(), self._numbered(origin))

    def _numbered(self, origin: _RddOrigin | HandedScan | UnsupportedPlanError) -> int:
        self._origins.append(origin)
        return len(self._origins) - 1

    def frames_of(self, rdd: Any) -> list[tuple[Jvm, Any]]:
        """Return sessions and analysed plans that an RDD's rows come from. Raise UnsupportedPlanError if unknown."""
        return [(origin.jvm, origin.analysed) for origin in self._made_of(rdd)[1] if isinstance(origin, _RddOrigin)]

    def _made_of(self, rdd: Any) -> tuple[bool, list[_RddOrigin | HandedScan]]:
        """Return the origins of an RDD, and whether each of its partitions was made from the one of the same number."""
        how, *names = self._java.origins(rdd).split(" ")
        others = [name for name in names if not name.isdigit()]
        if others:
            why = _OTHERS.get(others[0], f"a {others[0]}")
            raise UnsupportedPlanError(RDD, f"capture can't tell where an RDD's rows come from: it was made from {why}")
        origins = []
        for name in names:
            origin = self._origins[int(name)]
            if isinstance(origin, UnsupportedPlanError):
                raise origin
            origins.append(origin)
        return how == "each", origins

    def leaf(self, to: Rewriter, node: PlanNode, plan: Any) -> Traced:
        """Return a DataFrame made from an RDD with provenance columns to the RDD's origins."""
        each, origins = self._made_of(plan.rdd())
        java, number = to.java, to.java.bare(node.number)
        provenance: list[ProvenanceColumn] = []
        for origin in origins:
            if isinstance(origin, HandedScan):
                to.scans.append(KeptScan(origin))
                to.paths.append(())
                provenance.append(ProvenanceColumn(False, len(to.scans) - 1, whole=True))
                number = java.present(number)
                continue
            if isinstance(origin.held, UnsupportedPlanError):
                raise origin.held
            if each and len(origins) == 1:
                return Traced(java.keyed(java.plan(number), java.partition()), origin.held.place(to))
            held = origin.held.whole(to)
            provenance.extend(held)
            number = java.constant(number, len(held))
        return Traced(number, tuple(provenance))
