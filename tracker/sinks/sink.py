"""A write's output: what it aims at, how the tap must stand below it, and where each task's rows went."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.datasets import Dataset, Files
from provspark.model.errors import CaptureError
from provspark.model.pending import PendingVersion, PendingWrite
from provspark.tracker.sinks.contract import TapRuns, WriteMetrics, Written
from provspark.tracker.sinks.counts import rows_of
from provspark.tracker.sinks.listing import OutputFile, OutputFolder
from provspark.tracker.sinks.names import ROOT, OutputPlace
from provspark.tracker.sinks.options import kept
from provspark.tracker.sinks.owners import own_names
from provspark.tracker.sinks.pieces import pieces_of
from provspark.tracker.sinks.target import Target, command_target, read_target
from provspark.tracker.sources.options import zone_of_texts
from provspark.tracker.spark.reasons import reason


class Sink:
    """One write's output. Made by `Sink.of` before the write runs."""

    analysed = False

    def __init__(self, jvm: Any, session: Any, target: Target) -> None:
        self._jvm, self._session, self._target = jvm, session, target
        self._java = jvm.new("PartitionShape")
        self._folder = OutputFolder(jvm, session, target.path, target.options)
        watched = target.mode in ("append", "dynamic") and not target.skips
        self._before = frozenset(self._folder.files()) if watched else frozenset()

    @classmethod
    def of(cls, jvm: Any, writer: Any, end: str, args: tuple[Any, ...], plan: Any) -> Sink:
        """Read what a ``DataFrameWriter`` will write when `end` is called with `args`.

        Parameters
        ----------
        jvm : Jvm
        writer : py4j object
            The Java ``DataFrameWriter``, with the user's own DataFrame.
        end : str
            ``parquet``, ``csv``, ``json``, ``orc``, ``text``, ``save``, ``saveAsTable`` or ``insertInto``.
        args : tuple
            The Java method's arguments.
        plan : py4j object
            The user's analysed plan.

        Raises
        ------
        UnsupportedPlanError
            The end, format, table or a setting is one whose files can't be followed exactly.
        """
        return cls(jvm, jvm.new("WriteTarget").session(writer), read_target(jvm, writer, end, args, plan))

    @classmethod
    def of_command(cls, jvm: Any, command: Any) -> Sink:
        """Read what an analysed write command of the session `jvm` belongs to will write; see `of`."""
        return cls(jvm, jvm.session, command_target(jvm, command))

    @property
    def dataset(self) -> Dataset:
        """The data set that is written."""
        return self._target.dataset

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the plan's columns are written by their position; none where they go by name."""
        return self._target.names

    @property
    def skips(self) -> bool:
        """Whether Spark will write nothing here: call the end as it is, and record no version."""
        return bool(self._target.skips)

    @property
    def dynamic(self) -> bool:
        """Whether only those partition folders are replaced to which something is written."""
        return self._target.mode == "dynamic"

    def undone(self) -> bool:
        """Whether a write that failed left nothing that a second one would double or run into.

        An empty folder, which Spark leaves, goes.
        """
        if self._target.mode == "overwrite":
            return True
        if self._target.mode == "fresh":
            return self._folder.cleared()
        return frozenset(self._folder.files()) == self._before

    def is_own(self, kind: str, path: str) -> bool:
        """Whether what Spark's listener saw, a command and a path, may be this write."""
        name = self.dataset.name
        same = urlsplit(path).path.rstrip("/") == name.rstrip("/") or path.endswith(name)
        return kind == "InsertIntoHadoopFsRelationCommand" and same

    def complete(self, sealed: PendingWrite) -> PendingWrite:
        """Return it as it is: rows of files that stay are the rows they were."""
        return sealed

    def shape(self, plan: Any) -> tuple[Any, Any | None]:
        """Return what must stand below the tap, and the string expression for the tap.

        Parameters
        ----------
        plan : py4j object
            The rewritten plan: the user's columns first, provenance columns behind them.

        Returns
        -------
        plan : py4j object
            The rows in the order in which Spark will write them; columns may be added behind.
        expression : py4j object or None
            A string over its columns that changes with the partition folder and the bucket; None where there are none.
        """
        target = self._target
        if not target.partitions and target.buckets is None:
            return plan, None
        places, buckets = " ".join(map(str, target.places)), str(target.buckets or "")
        both = self._java.sorted(plan, places, target.statics, buckets, target.time_zone)
        return both[0], both[1]

    def finish(self, tapped: Sequence[TapRuns], metrics: WriteMetrics | None = None) -> Written:
        """Read what the write left. Call it once, after the write's commit.

        Raises
        ------
        CaptureError
            Files and tap do not fit each other.
        ConcurrentWriteError
            Somebody else wrote to the folder meanwhile.
        """
        target = self._target
        outputs, new = self._outputs()
        names = own_names(target.path, [outputs[i] for i in new], metrics)
        pieces = pieces_of(tapped, names, self._folders(tapped), target.max_records)
        tapped_rows = pieces.rows_of_files(len(new))
        if metrics is not None and metrics.rows != int(tapped_rows.sum()):
            raise CaptureError(f"{target.path}: Spark wrote {metrics.rows} rows, the tap saw {tapped_rows.sum()}")
        written = np.zeros(len(outputs), dtype=np.bool_)
        written[new] = True
        rows = rows_of(self._folder, target.format, outputs, written, tapped_rows, self._recount)
        version = self._version(outputs, rows, written)
        starts = version.files.bases[:-1][np.array(new, dtype=np.int64)[pieces.files]]
        return Written(version, pieces.partitions, pieces.offsets, pieces.counts, starts)

    def observe(self) -> PendingVersion:
        """Read what a write without a tap left: rows are counted from the files.

        Raises
        ------
        CaptureError
            Rows can't be counted.
        """
        outputs, new = self._outputs()
        none = np.zeros(len(outputs), dtype=np.bool_)
        rows = rows_of(self._folder, self._target.format, outputs, none, np.zeros(0, dtype=np.int64), self._recount)
        written = none.copy()
        written[new] = True
        return self._version(outputs, rows, written)

    def _outputs(self) -> tuple[list[OutputFile], list[int]]:
        """All data files now in the folder, in path order, and the places of those that were not there before."""
        outputs = sorted(self._folder.files(), key=lambda f: f.path)
        return outputs, [i for i, f in enumerate(outputs) if f not in self._before]

    def _version(self, outputs: Sequence[OutputFile], rows: Int64, written: npt.NDArray[np.bool_]) -> PendingVersion:
        target = self._target
        files = Files(
            tuple(f.path for f in outputs),
            np.array([f.size for f in outputs], dtype=np.int64),
            np.array([f.mtime for f in outputs], dtype=np.int64),
            rows,
            written,
        )
        partitions = [f for f in target.fields if f.name in target.partitions]
        zone = zone_of_texts(target.format, target.time_zone, partitions)
        options = tuple(sorted((zone | dict(kept(target.format, target.options))).items()))
        return PendingVersion(target.dataset, files, target.format, options, target.fields, target.partitions)

    def _folders(self, tapped: Sequence[TapRuns]) -> dict[str, OutputPlace]:
        values = list(dict.fromkeys(value for task in tapped for value, _ in task.runs))
        target = self._target
        if not target.partitions and target.buckets is None:
            return dict.fromkeys(values, ROOT)
        text = str(self._java.folders(json.dumps(values), json.dumps(target.partitions), target.buckets is not None))
        if not text:
            raise CaptureError(f"{target.path}: a partition value holds U+0000, its folder can't be told")
        return dict(zip(values, (OutputPlace(*place) for place in json.loads(text)), strict=True))

    def _recount(self, paths: Sequence[str]) -> Int64:
        target = self._target
        options = json.dumps(dict(kept(target.format, target.options)))
        schema = ", ".join(f"{_quoted(f.name)} {f.type}" for f in target.fields if f.name not in target.partitions)
        counter = self._jvm.new("Recount", self._session)
        try:
            text = str(counter.rows(target.path, "\0".join(paths), target.format, options, schema))
        except Exception as e:
            raise CaptureError(
                f"rows of {len(paths)} files that were in {target.path} can't be counted: {reason(e)}"
            ) from e
        return np.array([int(n) for n in text.split()], dtype=np.int64)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
