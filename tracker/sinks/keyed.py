"""Output of a write to a database table, whose rows are identified by key columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.boxes.pairs import from_pairs
from provspark.model.datasets import Dataset
from provspark.model.errors import CaptureError, ConcurrentWriteError, UnsupportedPlanError
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis
from provspark.tracker.sinks.contract import TapRuns, WriteMetrics, Written
from provspark.tracker.sources.keyed import KeyedTable, TableKeys
from provspark.tracker.spark.reasons import reason

MODES = {"AppendData": "Append", "OverwriteByExpression": "Overwrite"}
"""SaveMode of each command that writes to a table of a ``JDBCTableCatalog``."""


class KeyedSink:
    """Output of one write to a database table. Create it before the write runs.

    Parameters
    ----------
    jvm : Jvm
    options : java.util.Map
        JDBC options of the table.
    mode : str
        Name of a ``SaveMode``.
    node : str
        Name of the write, for messages.
    """

    analysed = True

    def __init__(self, jvm: Any, options: Any, mode: str, node: str) -> None:
        self._table = KeyedTable(jvm, options, node)
        try:
            exists = bool(self._table.java.exists())
        except Exception as e:
            raise UnsupportedPlanError(node, f"could not determine where it writes: {reason(e)}") from e
        self.skips = exists and mode in ("Ignore", "ErrorIfExists")
        self._replaces = mode == "Overwrite"
        stays = exists and mode == "Append"
        self._before = self._table.read() if stays else None

    @property
    def dataset(self) -> Dataset:
        """The table's dataset."""
        return self._table.dataset

    def undone(self) -> bool:
        """Whether a second write would not duplicate rows of a failed one, whose tasks commit one by one."""
        return self._replaces

    def shape(self, plan: Any) -> tuple[Any, Any | None]:
        """Return the unchanged plan, and the row's address as the expression that the tap records."""
        return plan, self._table.java.mark(plan)

    def finish(self, tapped: Sequence[TapRuns], metrics: WriteMetrics | None = None) -> Written:
        """Read the table's keys, and match them with the rows that the tap recorded.

        Raises
        ------
        CaptureError
            Keys are null or not unique, or the database changed a written key.
        ConcurrentWriteError
            The table has rows that this write did not add and that were not there before.
        """
        now = self._table.read()
        runs = [(task.partition, int(value), n) for task in tapped for value, n in task.runs]
        partitions, addresses, counts = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        if (counts > 1).any():
            raise CaptureError(
                f"two rows with the same key ({self._table.keys}) were written to {self.dataset}; declare columns "
                f"that identify each row"
            )
        order = np.argsort(partitions, kind="stable")
        partitions, rows = partitions[order], self._rows(now, addresses[order])
        kept = 0 if self._before is None else len(self._before.addresses)
        if len(now.addresses) != len(rows) + kept:
            raise ConcurrentWriteError(
                f"{self.dataset} has {len(now.addresses)} rows instead of {kept} from before and {len(rows)} of this "
                f"write, so another writer changed it meanwhile; let one task write it at a time"
            )
        first = np.searchsorted(partitions, partitions, side="left")
        offsets = np.arange(len(partitions), dtype=np.int64) - first
        version = self._table.version(now, written=True)
        return Written(version, partitions, offsets, np.ones(len(rows), dtype=np.int64), rows)

    def _rows(self, now: TableKeys, addresses: Int64) -> Int64:
        try:
            return now.segments().rows_of(addresses)
        except CaptureError as e:
            raise CaptureError(
                f"some keys ({self._table.keys}) that were written to {self.dataset} are missing there: "
                f"the database or another writer changed or removed them. Declare keys that the database does not "
                f"change, and let one task write the table at a time"
            ) from e

    def complete(self, sealed: PendingWrite) -> PendingWrite:
        """Add the version before an append as an input, so that its rows keep their identity."""
        if self._before is None or not len(self._before.addresses):
            return sealed
        now = self._table.read()
        if now.digest not in sealed.output.files.paths[0]:
            raise ConcurrentWriteError(
                f"another writer changed {self.dataset} right after this write; let one task write it at a time"
            )
        was = self._table.version(self._before)
        identity = was.files.identity(was.dataset)
        inputs = [a for a in sealed.axes if a.role == "input"]
        axis = Axis("input", was.files.total, identity, len(inputs), was.dataset.uri)
        out = self._rows(now, self._before.addresses)
        order = np.argsort(out, kind="stable")
        tensor = PendingTensor(0, len(sealed.axes), from_pairs(out[order], order.astype(np.int64)))
        return replace(
            sealed, inputs=(*sealed.inputs, was), axes=(*sealed.axes, axis), tensors=(*sealed.tensors, tensor)
        )

    def observe(self) -> PendingVersion:
        """Return the version that a write without a tap made, from the table's keys."""
        return self._table.version(self._table.read(), written=True)
