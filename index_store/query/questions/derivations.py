"""In which ways were these rows made?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["derivations"]


@question()
def derivations(prov: Asking, dataset: DatasetName | RowSet, rows: Rows = None, **which: Unpack[Which]) -> Derivations:
    """List each way in which rows were made: which source row of each input was used.

    An input that a step reads twice counts as two. This covers only the steps that made the rows. Lines are computed on
    demand.

    Returns
    -------
    Derivations
        ``slice``, ``project``, ``batches(size)``, ``table(limit)``.

    Raises
    ------
    UntrackedError
        A step that made some of the rows was not captured exactly. Other errors as for `backward`.

    Notes
    -----
    The non-zeros of TensProv's order n+1 tensor.
    """
    asked = prov.asked("derivations", dataset, rows, which)
    return Derivations.of(asked.view.back, asked.start(), asked.labels)
