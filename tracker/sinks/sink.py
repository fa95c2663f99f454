"""Output of a write to files: its target, the plan below the tap, and the files that contain each task's rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

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
from provspark.tracker.sinks.target import read_target
from provspark.tracker.sources.options import zone_of_texts
from provspark.tracker.spark.reasons import reason


class Sink:
    """Output of one write to files. Create it before the write runs.

    Parameters
    ----------
    jvm : Jvm
    command : py4j object
        The analysed ``InsertIntoHadoopFsRelationCommand``.
    node : str
        Name of the write, for messages.

    Raises
    ------
    UnsupportedPlanError
        Capture does not support the format, the table or a setting.
    """

    analysed = False

    def __init__(self, jvm: Any, command: Any, node: str) -> None:
        self._jvm, self._session, self._target = jvm, jvm.session, read_target(jvm, command, node)
        target = self._target
        self._java = jvm.new("PartitionShape")
        self._folder = OutputFolder(jvm, jvm.session, target.path, target.options)
        watched = target.mode in ("append", "dynamic") and not target.skips
        self._before = frozenset(self._folder.files()) if watched else frozenset()

    @property
    def dataset(self) -> Dataset:
        """The dataset that is written."""
        return self._target.dataset

    @property
    def skips(self) -> bool:
        """Whether Spark will write nothing: run the command unchanged, and record no version."""
        return bool(self._target.skips)

    def undone(self) -> bool:
        """Whether a failed write left nothing behind that a second one would duplicate or fail on.

        Removes an empty folder that Spark left.
        """
        if self._target.mode == "overwrite":
            return True
        if self._target.mode == "fresh":
            return self._folder.cleared()
        return frozenset(self._folder.files()) == self._before

    def complete(self, sealed: PendingWrite) -> PendingWrite:
        """Return the write unchanged: rows of files that stay keep their identity anyway."""
        return sealed

    def shape(self, plan: Any) -> tuple[Any, Any | None]:
        """Return the plan to put below the tap, and the string expression that the tap records.

        Parameters
        ----------
        plan : py4j object
            The rewritten plan: the user's columns, followed by provenance columns.

        Returns
        -------
        plan : py4j object
            The rows in the order in which Spark will write them, possibly with columns added at the end.
        expression : py4j object or None
            A string over its columns that changes with the partition folder and the bucket; None without either.
        """
        target = self._target
        if not target.partitions and target.buckets is None:
            return plan, None
        places, buckets = " ".join(map(str, target.places)), str(target.buckets or "")
        both = self._java.sorted(plan, places, target.statics, buckets, target.time_zone)
        return both[0], both[1]

    def finish(self, tapped: Sequence[TapRuns], metrics: WriteMetrics | None = None) -> Written:
        """Return the version that the write made. Call it once, after the write's commit.

        Raises
        ------
        CaptureError
            The files do not match the tap's records.
        ConcurrentWriteError
            Another writer wrote to the folder meanwhile.
        """
        target = self._target
        outputs, new = self._outputs()
        names = own_names(target.path, [outputs[i] for i in new], metrics)
        pieces = pieces_of(tapped, names, self._folders(tapped), target.max_records)
        tapped_rows = pieces.rows_of_files(len(new))
        if metrics is not None and metrics.rows != int(tapped_rows.sum()):
            raise CaptureError(
                f"Spark wrote {metrics.rows} rows to {target.path}, but capture recorded {tapped_rows.sum()}; run the "
                f"step again"
            )
        written = np.zeros(len(outputs), dtype=np.bool_)
        written[new] = True
        rows = rows_of(self._folder, target.format, outputs, written, tapped_rows, self._recount)
        version = self._version(outputs, rows, written)
        starts = version.files.bases[:-1][np.array(new, dtype=np.int64)[pieces.files]]
        return Written(version, pieces.partitions, pieces.offsets, pieces.counts, starts)

    def observe(self) -> PendingVersion:
        """Return the version that a write without a tap made, with rows counted from the files.

        Raises
        ------
        CaptureError
            The rows can't be counted.
        """
        outputs, new = self._outputs()
        none = np.zeros(len(outputs), dtype=np.bool_)
        rows = rows_of(self._folder, self._target.format, outputs, none, np.zeros(0, dtype=np.int64), self._recount)
        written = none.copy()
        written[new] = True
        return self._version(outputs, rows, written)

    def _outputs(self) -> tuple[list[OutputFile], list[int]]:
        """Return all data files in the folder, in path order, and the positions of those that are new."""
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
            raise CaptureError(
                f"a partition value in {target.path} contains the character U+0000, so its folder can't be "
                f"determined; remove the character"
            )
        return dict(zip(values, (OutputPlace(*place) for place in json.loads(text)), strict=True))

    def _recount(self, paths: Sequence[str]) -> Int64:
        target = self._target
        options = json.dumps(dict(kept(target.format, target.options)))
        schema = ", ".join(f"{_quoted(f.name)} {f.type}" for f in target.fields if f.name not in target.partitions)
        counter = self._jvm.new("Recount", self._session)
        try:
            text = str(counter.rows(target.path, "\0".join(paths), target.format, options, schema))
        except Exception as e:
            raise CaptureError(f"could not count the rows of {len(paths)} files in {target.path}: {reason(e)}") from e
        return np.array([int(n) for n in text.split()], dtype=np.int64)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
