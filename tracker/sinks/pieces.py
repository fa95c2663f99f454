"""From what the tap saw in each task to rows of files: a task's rows lie in its files one behind the other."""

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
    """File number ``files[i]`` holds ``counts[i]`` rows of task ``partitions[i]``, from its row ``offsets[i]`` on."""

    partitions: Int64
    offsets: Int64
    counts: Int64
    files: Int64

    def rows_of_files(self, n_files: int) -> Int64:
        """Row count of each file, 0 where no piece tells."""
        out = np.zeros(n_files, dtype=np.int64)
        out[self.files] = self.counts
        return out


def pieces_of(
    tapped: Sequence[TapRuns], names: Sequence[PartName], places: Mapping[str, OutputPlace], max_records: int
) -> Pieces:
    """Lay the tap's runs over the files of one job, sorted by (task, offset).

    Parameters
    ----------
    tapped : sequence of TapRuns
        One per task at most.
    names : sequence of PartName
        The job's files.
    places : mapping
        From the tap's values to places below the root.
    max_records : int
        Rows that a file holds at most, 0 for no limit: all files of a run but its last are that full.

    Raises
    ------
    CaptureError
        Runs and files do not fit each other.
    """
    groups: dict[tuple[int, OutputPlace], dict[int, int]] = {}
    for i, name in enumerate(names):
        groups.setdefault((name.partition, name.place), {})[name.counter] = i
    rows: list[tuple[int, int, int, int]] = []
    before = -1
    for task in sorted(tapped, key=lambda t: t.partition):
        if task.partition == before:
            raise CaptureError(f"the tap tells twice of task {task.partition}")
        before, offset = task.partition, 0
        for place, n in _by_place(task, places):
            files = groups.pop((task.partition, place), {})
            full = max_records or n
            wanted = -(-n // full)
            if files.keys() != set(range(wanted)):
                raise CaptureError(
                    f"{_where(task.partition, place)} should be in files c000 to c{wanted - 1:03d} "
                    f"for its {n} rows; there are {', '.join(f'c{c:03d}' for c in sorted(files)) or 'none'}"
                )
            for counter in range(wanted):
                count = min(full, n - counter * full)
                rows.append((task.partition, offset, count, files[counter]))
                offset += count
    for (partition, place), files in groups.items():
        if (partition, place, len(files)) != (0, ROOT, 1):  # Spark leaves one empty file where there are no rows
            raise CaptureError(f"{_where(partition, place)} has {len(files)} files whose rows were not seen")
    if not rows:
        return Pieces(*[np.zeros(0, dtype=np.int64)] * 4)
    return Pieces(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


def _by_place(task: TapRuns, places: Mapping[str, OutputPlace]) -> Iterator[tuple[OutputPlace, int]]:
    for place, runs in groupby(((places[v], n) for v, n in task.runs if n), key=lambda run: run[0]):
        yield place, sum(n for _, n in runs)


def _where(partition: int, place: OutputPlace) -> str:
    return f"task {partition}" + (f" in {place}" if place != ROOT else "")
