"""What do these rows derive from, what derives from them, and which operations are between?"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Literal

from provspark.index_store.query.asking import Which
from provspark.index_store.query.column_choice import chosen, known_direction
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.replay.history import History, replay_history
from provspark.replay.replaying import Progress, Replaying

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["history"]


@question(paper="Chapman et al. PQ7 to PQ11")
def history(
    prov: Replaying,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    columns: ColumnNames = None,
    *,
    direction: Literal["backward", "forward", "both"] = "both",
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> History:
    """Show the sources and results of rows across steps, with the operations between.

    For each row that was dropped, it shows the operation and the reason. With `columns`, it shows the values of these
    cells after each operation, and where the row or the column was dropped. Without rows and conditions, it follows the
    columns and replays nothing.

    Parameters
    ----------
    columns : str or sequence of str, optional
        Columns of `dataset`.
    direction : {"both", "backward", "forward"}
        Show sources, results, or both.
    progress, functions, dataset, rows, **which
        As for `replay`.

    Returns
    -------
    History
        ``passages``, one for each write; ``endings``, the rows that were dropped; ``drops``, the columns that were
        dropped; ``table()``, ``cells()``. The passage of a write that can't be replayed has the reason.

    Raises
    ------
    UnknownColumnError
        The message suggests similar names, or names the operation that dropped the column.

    Notes
    -----
    PQ7 to PQ11 of Chapman et al.: invalidation of features (columns alone), records (rows alone) and items (both),
    and the histories of items and records.
    """
    known_direction(direction, ("both", "backward", "forward"))
    asked = prov.asked("history", dataset, rows, which)
    positions = [] if columns is None else chosen(asked, columns)
    some = (
        columns is None or rows is not None or which.get("where") is not None or not isinstance(dataset, str | PathLike)
    )
    about = asked.view.back, asked.view.ahead, RowSet(asked.at, asked.labels), direction, positions
    if not some:
        return replay_history(prov.replayer, *about, replayed=False)
    with prov.following(progress, functions) as replayer:
        return replay_history(replayer, *about)
