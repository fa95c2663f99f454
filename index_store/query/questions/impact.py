"""What did a step do to the distribution of values?"""

from __future__ import annotations

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profiled_versions import compare_step, written
from provspark.index_store.query.asking import Asking
from provspark.index_store.query.parameter_types import ColumnName, DatasetName, FormerNames, StepOrDataset
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.model.runs import Runs

__all__ = ["impact"]


@question(paper="Chapman et al. PQ12, PQ13")
def impact(
    prov: Asking,
    step: StepOrDataset,
    column: ColumnName | None = None,
    *,
    source: DatasetName | None = None,
    output: DatasetName | None = None,
    was: FormerNames | None = None,
) -> Impact:
    """Compare the distributions of columns before and after a step, or those of a source and an output.

    Parameters
    ----------
    step : str
        A step's id, or a dataset that it wrote.
    column : str, optional
        A column of the output, or a column that was dropped. Default: all.
    source : str, optional
        The dataset to compare with: one that the step read, or one that its output came from over any number of steps.
        Default: the one that the step read.
    output : str, optional
        The dataset that the step wrote, if it wrote several.
    was : mapping, optional
        Earlier names of renamed columns. By default, column lineage finds them. In Python a mapping from the later to
        the earlier name: ``{"age": "0"}``.

    Returns
    -------
    Impact
        ``before`` and ``after``; ``table()``, measure by measure; ``shares()``, value by value; ``was``, the earlier
        names. A column is compared with its predecessor: the column of the same name, or else the only column that it
        was renamed or computed from row by row, if that no longer exists. If several columns were computed from one, as
        in a one-hot encoding, only the requested one is compared with it.

    Raises
    ------
    ConditionError
        The step read several datasets, or the output came from several versions of `source`.
    UnknownDatasetError
        The output did not come from `source`.

    Notes
    -----
    PQ12 and PQ13 of Chapman et al. All other errors as for `profile`.
    """
    after = written(prov.currents, step, output)
    back = prov.asked("impact", RowSet(after, Runs.span(0)), None, {}).view.back
    return compare_step(prov.graph, back, after, column, source=source, was=was or {})
