"""Assign the rows that the tap recorded in each task to files: a task writes its rows to its files in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError
from provspark.tracker.sinks.contract import TapRuns
from provspark.tracker.sinks.names import ROOT, OutputPlace, PartName


@dataclass(frozen=True, slots=True)
class Pieces:
    """File ``files[i]`` contains ``counts[i]`` rows of task ``partitions[i]``, starting at its row ``offsets[i]``."""

    partitions: Int64
    offsets: Int64
    counts: Int64
    files: Int64

    def rows_of_files(self, n_files: int) -> Int64:
        """Return the number of rows of each file, 0 for files without a piece."""
        out = np.zeros(n_files, dtype=np.int64)
        out[self.files] = self.counts
        return out


def pieces_of(
    tapped: Sequence[TapRuns], names: Sequence[PartName], places: Mapping[str, OutputPlace], max_records: int
) -> Pieces:
    """Assign the tap's runs to the files of one job; the pieces are sorted by (task, offset).

    Parameters
    ----------
    tapped : sequence of TapRuns
        At most one per task.
    names : sequence of PartName
        The job's files.
    places : mapping
        Places below the root by the tap's values.
    max_records : int
        Maximum number of rows per file, 0 for no limit. All files of a run except the last are full.

    Raises
    ------
    CaptureError
        The runs do not match the files.
    """
    groups: dict[tuple[int, OutputPlace], dict[int, int]] = {}
    for i, name in enumerate(names):
        groups.setdefault((name.partition, name.place), {})[name.counter] = i
    rows: list[tuple[int, int, int, int]] = []
    before = -1
    for task in sorted(tapped, key=lambda t: t.partition):
        if task.partition == before:
            raise CaptureError(
                f"capture has two records of Spark task {task.partition}. Run the step again, and report this error "
                f"if it recurs"
            )
        before, offset = task.partition, 0
        for place, n in _by_place(task, places):
            files = groups.pop((task.partition, place), {})
            full = max_records or n
            wanted = -(-n // full)
            if files.keys() != set(range(wanted)):
                raise CaptureError(
                    f"the {n} rows of {_where(task.partition, place)} should be in files c000 to c{wanted - 1:03d}, "
                    f"but there are {', '.join(f'c{c:03d}' for c in sorted(files)) or 'none'}; "
                    f"run the step again"
                )
            for counter in range(wanted):
                count = min(full, n - counter * full)
                rows.append((task.partition, offset, count, files[counter]))
                offset += count
    for (partition, place), files in groups.items():
        if (partition, place, len(files)) != (0, ROOT, 1):  # Spark leaves one empty file where there are no rows
            raise CaptureError(
                f"{_where(partition, place)} has {len(files)} files, but capture recorded no rows of it; run the step "
                f"again"
            )
    if not rows:
        return Pieces(*[np.zeros(0, dtype=np.int64)] * 4)
    return Pieces(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def _by_place(task: TapRuns, places: Mapping[str, OutputPlace]) -> Iterator[tuple[OutputPlace, int]]:
    for place, runs in groupby(((places[v], n) for v, n in task.runs if n), key=lambda run: run[0]):
        yield place, sum(n for _, n in runs)


def _where(partition: int, place: OutputPlace) -> str:
    return f"task {partition}" + (f" in {place}" if place != ROOT else "")
