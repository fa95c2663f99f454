"""Rows of each file of a version: by footers where a format has them, else by what the tap saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.errors import CaptureError
from provspark.tracker.sinks.listing import FOOTERS, OutputFile, OutputFolder


def rows_of(
    folder: OutputFolder,
    format_name: str,
    files: Sequence[OutputFile],
    written: npt.NDArray[np.bool_],
    tapped: Int64,
    recount: Callable[[Sequence[str]], Int64],
) -> Int64:
    """Return the rows of every file of a folder.

    Parameters
    ----------
    found : sequence of OutputFile
        All data files.
    written : bool array, one entry a file
        Which are this write's.
    tapped : int64 array, one entry a file of this write's
        Rows that the tap saw go into it. Footers must say the same.
    recount : callable
        Counts rows of files that have no footer and are not this write's.

    Raises
    ------
    CaptureError
        A file's footer tells another number than the tap.
    """
    paths = [f.path for f in files]
    rows = np.zeros(len(files), dtype=np.int64)
    if format_name in FOOTERS:
        rows[:] = folder.footer_rows(files, format_name)
        wrong = np.flatnonzero(rows[written] != tapped)
        if len(wrong):
            file = paths[int(np.flatnonzero(written)[wrong[0]])]
            raise CaptureError(
                f"{file} holds {rows[written][wrong[0]]} rows by its footer, the tap saw {tapped[wrong[0]]}; "
                f"{len(wrong)} files differ"
            )
        return rows
    rows[written] = tapped
    old = np.flatnonzero(~written)
    if len(old):
        rows[old] = recount([paths[i] for i in old.tolist()])
    return rows
