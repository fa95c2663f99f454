"""What values did these rows have after each operation of a step?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Which
from provspark.index_store.query.parameter_types import DatasetName, Rows, StepId
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.replay.records import Replayed
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.step_choice import replay_step

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["replay"]


@question(paper="Chapman et al. PQ10, PQ11")
def replay(
    prov: Replaying,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    step: StepId | None = None,
    all_sources: bool = False,
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> Replayed:
    """Show the values of rows after each operation of a step, with the cells that it changed.

    Parameters
    ----------
    step : str, optional
        The step to replay. It made the rows, or read them. Default: the step that made them, or else the only one that
        read them.
    all_sources : bool
        Also return, for rows that the step read, the rows of other inputs that they were combined with. For rows that
        the step made, these are always returned.
    progress : callable, optional
        Called with the number of operations done, the number of all operations, and what the next one does.
    functions : bool
        Also run user-defined Python functions. Their modules must be importable. The script itself never runs. Without
        it, rows are followed up to such an operation.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    Replayed
        ``stages`` (one for each operation, with its lines), ``endings``, ``verified``, ``scanned``, ``stopped``.

    Raises
    ------
    ReplayError
        The step's operations are not stored, or no Spark runs here.
    VersionChangedError, ValuesUnavailableError
        The data that the step read has changed, or can't be read by row.
    """
    asked = prov.asked("replay", dataset, rows, which)
    with prov.following(progress, functions) as replayer:
        return replay_step(replayer, asked, step, all_sources)[1]
