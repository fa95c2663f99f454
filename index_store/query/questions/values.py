"""What values do these rows have?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from provspark.index_store.query.answer import Answer, about
from provspark.index_store.query.arguments import several
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import ColumnNames, DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.row_ids import row_ids
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
    """Read the values of rows, in the order of `rows`.

    A repeated row id returns the row again.

    Parameters
    ----------
    dataset : str, RowSet, Answer or table of an answer
        A dataset; or rows of one version, each of which is read once. `Answer.values` returns them line by line, also
        for rows of several datasets.
    columns : str or sequence of str, optional
        Columns of the dataset. Default: all.
    rows, **which
        See `backward`.

    Returns
    -------
    Values
        Its table: dataset, version, row, and the dataset's columns.

    Raises
    ------
    VersionChangedError
        The files are no longer those of the version.
    ValuesUnavailableError
        The format, or its options, do not allow reading rows by position.
    """
    # A range or a set has each row once, and may have more than memory holds until `asked` has checked it.
    ids = None if rows is None or isinstance(rows, range | RowSet) else row_ids(rows)
    asked = prov.asked("values", dataset, rows if ids is None else ids, which)
    numbers = asked.labels.rows()
    if isinstance(rows, range) and rows.step < 0:
        numbers = numbers[::-1]
    elif ids is not None and Runs.of(ids) == asked.labels:
        numbers = ids
    columns = None if columns is None else several(columns, "columns")
    return values_of([(asked.at, numbers, columns)], about(asked.at.version, "", (), used=asked.used))
