"""How are values distributed before and after each operation of a step?"""

from __future__ import annotations

from provspark.index_store.profiles.profiled_versions import profile_of_version, written
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, OperationNumbers, StepOrDataset
from provspark.index_store.query.question import question
from provspark.replay.replaying import Progress, Replaying
from provspark.replay.spread import OperationProfiles

__all__ = ["operation_profiles"]


@question(paper="Chapman et al. PQ12, PQ13")
def operation_profiles(
    prov: Replaying,
    step: StepOrDataset,
    operations: OperationNumbers | None = None,
    *,
    columns: ColumnNames = None,
    output: DatasetName | None = None,
    progress: Progress | None = None,
    functions: bool = False,
) -> OperationProfiles:
    """Profile the values before and after operations of a step, by running all of the step again.

    Parameters
    ----------
    step : str
        A step's id, or the data set that it wrote.
    operations : sequence of int, optional
        Their numbers, as `operations(step, parts=True)` tells them; all unless told.
    columns : sequence of str, optional
        Only these, of each operation that has them.
    output : str, optional
        Which data set that it wrote, where there are several.
    progress, functions
        As for `replay`.

    Returns
    -------
    OperationProfiles
        ``after(number)`` and ``impact(number)`` of an operation, ``table()`` of all, ``verified``. An operation
        that can't be replayed, or that Spark may have let make other rows of the same ones, says why.

    Raises
    ------
    ReplayError
        The step's operations are not stored, or its lineage is untracked; there is no such operation.
    UnknownColumnError
        No operation has such a column.

    Notes
    -----
    PQ12 and PQ13 of Chapman et al., operation by operation.
    """
    at = written(prov.currents, step, output)
    with prov.following(progress, functions) as replayer:
        return replayer.spread(at.node, operations, columns, lambda: profile_of_version(prov.graph, at))
