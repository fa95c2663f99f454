"""What values do these rows have?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from provspark.index_store.query.answer import Answer, about
from provspark.index_store.query.arguments import several
from provspark.index_store.query.asking import Asking, Rows, Which, row_ids
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
    dataset: str | RowSet | Answer | pa.Table,
    rows: Rows = None,
    *,
    columns: Sequence[str] | None = None,
    **which: Unpack[Which],
) -> Values:
    """Read the values of rows, in the order in which `rows` names them, as often as it does.

    Parameters are those of `backward`; `columns` picks some. `dataset` may also be an answer, or an answer's table, if
    all its rows are of one version: the values are those of the rows found, each once. `Answer.values` returns them
    line by line, and of several datasets.

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
    asked = prov.asked("values", dataset, ids, which)
    numbers = asked.labels.rows()
    if ids is not None and Runs.of(ids) == asked.labels:
        numbers = ids
    columns = None if columns is None else several(columns, "columns")
    return values_of([(asked.at, numbers)], columns, about(asked.at.version, "", (), used=asked.used))
