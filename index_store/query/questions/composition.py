"""How many source rows of these rows have each value of a column?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.answer import Answer, about
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.parameter_types import ColumnName, DatasetName, Rows
from provspark.index_store.query.question import SURE, question
from provspark.index_store.query.reachable_rows import reach
from provspark.index_store.query.relation import gathered, image
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import TableAnswer
from provspark.index_store.query.walk import Stand
from provspark.model.runs import Runs

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["composition"]


@question(follows=SURE)
def composition(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    source: DatasetName,
    column: ColumnName,
    each: bool = True,
    **which: Unpack[Which],
) -> TableAnswer:
    """Count the source rows of each row, grouped by a column of the source.

    Parameters
    ----------
    source : str
        The dataset of the source rows.
    column : str
        A column of `source`, or ``struct.field``.
    each : bool
        Count for each row. If false, count for all rows together; each source row counts once.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    TableAnswer
        row (with `each`), value, witnesses: the number of distinct source rows in `source`, over all reads of it.

    Raises
    ------
    UnknownColumnError, ValuesUnavailableError, VersionChangedError
        The column can't be read. Other errors as for `backward`.
    """
    from provspark.index_store.query.compositions import divide

    asked = prov.asked("composition", dataset, rows, which)
    start, labels = asked.start(), asked.labels
    if not each:
        start, labels = Stand(start.at, gathered(image(start.boxes))), Runs.span(1)
    reached = reach(asked.view.back, [start], "backward", asked.view.known(source), context=asked.context)
    kept = Answer.of(asked.at.version, labels, "backward", reached, asked.kinds)
    told = about(asked.at.version, "backward", sorted({*kept.stops, *asked.stops}), used=asked.used)
    table = divide(kept.parts, labels, column).replace_schema_metadata(told)
    return TableAnswer(table if each else table.drop_columns(["row"]))
