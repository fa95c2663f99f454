"""Through which versions and writes did these rows come or go?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking, Rows, Which
from provspark.index_store.query.column_choice import known_direction
from provspark.index_store.query.nodes import Direction
from provspark.index_store.query.question import ALL, question
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.trace import Trace, trace_rows

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["trace"]


@question(follows=ALL, ahead=True)
def trace(
    prov: Asking,
    dataset: str | RowSet,
    rows: Rows = None,
    direction: Direction = "backward",
    *,
    to: str | None = None,
    **which: Unpack[Which],
) -> Trace:
    """Draw the way of a set of rows: each version met, with its rows, and the writes between.

    Parameters are those of `backward`. Stops never raise here; they are in the result.
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
