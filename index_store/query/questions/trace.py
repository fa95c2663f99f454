"""Through which versions and writes did these rows come or go?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import ALL, question
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.trace import Trace, trace_rows

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["trace"]


@question(follows=ALL, ahead=True)
def trace(
    prov: Asking,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    direction: Direction = "backward",
    *,
    to: DatasetName | None = None,
    **which: Unpack[Which],
) -> Trace:
    """Trace rows through all steps: list the dataset versions on the paths, their rows, and the writes.

    If the lineage is incomplete, the answer lists where it stops and why; this is not an error.

    Parameters
    ----------
    direction : {"backward", "forward"}
        Trace to sources, or to results.
    to : str, optional
        Return only paths to this dataset.
    dataset, rows, **which
        See `backward`.

    Returns
    -------
    Trace
        ``nodes``, each a version with the rows reached; ``edges``, the writes between; ``stops``, ``ended``, ``gone``.
    """
    known_direction(direction)
    asked = prov.asked("trace", dataset, rows, which)
    linker, place = asked.linker(direction), asked.view.dataset(to)
    traced = trace_rows(
        linker,
        asked.at,
        asked.labels,
        direction,
        to=place,
        kinds=asked.kinds,
        trust=asked.trust,
        currents=asked.view.currents if direction == "forward" else None,
        everything=asked.versions == "all",
    )
    return asked.drawn(traced, place)
