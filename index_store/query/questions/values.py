"""What values do these rows have?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from provspark.index_store.query.answer import Answer, about
from provspark.index_store.query.arguments import several
from provspark.index_store.query.asking import Asking, Which, row_ids
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.row_values import Values, values_of
from provspark.index_store.query.rowset import RowSet
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["values"]


@question()
def values(
    prov: Asking,
    dataset: DatasetName | RowSet | Answer | pa.Table,
    rows: Rows = None,
    *,
    columns: ColumnNames = None,
    **which: Unpack[Which],
) -> Values:
    """Read the values of rows, in the order in which `rows` names them, as often as it does.

    Parameters
    ----------
    dataset : str, RowSet, Answer or table of an answer
        A dataset; or rows of one version, whose values are read each once. `Answer.values` returns them line by line,
        and of several datasets.
    columns : str or sequence of str, optional
        Columns of the dataset; all of them when it is left out.
    rows, **which
        See `backward`.

    Returns
    -------
    Values
        Its table: dataset, version, row, and the dataset's columns.

    Raises
    ------
    VersionChangedError
        When the files are no longer those of the version.
    ValuesUnavailableError
        When the format or its options do not let rows be read by position.
    """
    ids = None if rows is None else row_ids(rows)
    asked = prov.asked("values", dataset, rows if isinstance(rows, RowSet) else ids, which)
    numbers = asked.labels.rows()
    if ids is not None and Runs.of(ids) == asked.labels:
        numbers = ids
    columns = None if columns is None else several(columns, "columns")
    return values_of([(asked.at, numbers, columns)], about(asked.at.version, "", (), used=asked.used))
