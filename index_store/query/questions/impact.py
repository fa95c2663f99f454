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
    """Compare the distribution of a column, or of all columns, before and after a step, or all steps from a source on.

    Parameters
    ----------
    step : str
        A step's id, or the data set that it wrote.
    column : str, optional
        Of the output, or one that went.
    source : str, optional
        The data set to compare with: one that the step read, or one that its output came from over any number of
        steps. Without it, the one that the step read.
    output : str, optional
        Which data set that the step wrote, where there are several.
    was : mapping, optional
        Names before of columns that had another one: ``{"age": "0"}``. Of others the lineage of columns tells it.

    Returns
    -------
    Impact
        ``before`` and ``after``; ``table()``, measure by measure; ``shares()``, value by value; ``was``, the names
        before. A column is compared with the one that it was: of the same name, or else the only one that it was
        renamed or computed from row by row, if that is no longer there. Of several columns that came of one, as by a
        one-hot encoding, only the one that is asked for is compared with it.

    Raises
    ------
    ConditionError
        The step read several data sets, or the output came from several versions of `source`.
    UnknownDatasetError
        The output did not come from `source`.

    Notes
    -----
    PQ12 and PQ13 of Chapman et al. All other errors as for `profile`.
    """
    after = written(prov.currents, step, output)
    back = prov.asked("impact", RowSet(after, Runs.span(0)), None, {}).view.back
    return compare_step(prov.graph, back, after, column, source=source, was=was or {})
