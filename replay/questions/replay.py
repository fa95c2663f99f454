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
    """Tell the values of rows after each operation of a step, with the cells that it changed.

    Parameters
    ----------
    step : str, optional
        The step to replay: the one that made the rows, or one that read them. Without it, the one that made
        them, or else the only one that read them.
    all_sources : bool
        For rows that the step read: each line also tells the rows of inputs that it met on the way. For rows
        that it made it always does.
    progress : callable, optional
        Told how many operations are done, how many there are, and what the next one does.
    functions : bool
        Run Python functions of the user's, too: each by the module that its name says, which has to be there to
        import. The script itself never runs. Without it, rows are followed up to such an operation.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    Replayed
        ``stages`` (an operation each, with its lines), ``endings``, ``verified``, ``scanned``, ``stopped``.

    Raises
    ------
    ReplayError
        The step's operations are not stored, or no Spark runs here.
    VersionChangedError, ValuesUnavailableError
        What the step read has changed since, or can't be read by row.
    """
    asked = prov.asked("replay", dataset, rows, which)
    with prov.following(progress, functions) as replayer:
        return replay_step(replayer, asked, step, all_sources)[1]
