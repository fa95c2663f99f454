"""Count the rows of each file of a version, from footers if the format has them, or else from the tap's records."""

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
    """Return the number of rows of each file of a folder.

    Parameters
    ----------
    folder : OutputFolder
    format_name : str
    files : sequence of OutputFile
        All data files.
    written : bool array, one entry per file
        Which files this write made.
    tapped : int64 array, one entry per file of this write
        Number of rows that the tap recorded. Footers must agree with it.
    recount : callable
        Counts the rows of files that have no footer and that this write did not make.

    Raises
    ------
    CaptureError
        A file's footer has a different number of rows than the tap recorded.
    """
    paths = [f.path for f in files]
    rows = np.zeros(len(files), dtype=np.int64)
    if format_name in FOOTERS:
        rows[:] = folder.footer_rows(files, format_name)
        wrong = np.flatnonzero(rows[written] != tapped)
        if len(wrong):
            file = paths[int(np.flatnonzero(written)[wrong[0]])]
            raise CaptureError(
                f"{file} has {rows[written][wrong[0]]} rows according to its footer, but capture recorded "
                f"{tapped[wrong[0]]} ({len(wrong)} files differ); run the step again while nothing else writes there"
            )
        return rows
    rows[written] = tapped
    old = np.flatnonzero(~written)
    if len(old):
        rows[old] = recount([paths[i] for i in old.tolist()])
    return rows
