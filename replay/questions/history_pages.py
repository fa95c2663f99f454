"""The history of many rows, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from provspark.index_store.query.asking import Which
from provspark.index_store.query.parameter_types import DatasetName, Rows
from provspark.index_store.query.question import question
from provspark.index_store.query.rowset import RowSet
from provspark.model.runs import Runs
from provspark.replay.history import History
from provspark.replay.questions.history import history
from provspark.replay.replaying import Progress, Replaying

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["history_pages"]


@question(pages_of="history")
def history_pages(
    prov: Replaying,
    dataset: DatasetName | RowSet,
    rows: Rows = None,
    *,
    direction: Literal["backward", "forward", "both"] = "forward",
    progress: Progress | None = None,
    functions: bool = False,
    **which: Unpack[Which],
) -> Iterator[History]:
    """Return the history of many rows page by page, each with as many rows as one replay follows.

    Parameters are those of `history`. Each page is computed when you request it.
    """
    asked = prov.asked("history_pages", dataset, rows, which)
    most = prov.replayer.most
    for first in range(0, asked.labels.count, most):
        numbers = np.arange(first, min(first + most, asked.labels.count))
        page = RowSet(asked.at, Runs.of(asked.labels.at(numbers)))
        about: Which = {"run": which.get("run"), "as_of": which.get("as_of")}
        yield history(prov, page, direction=direction, progress=progress, functions=functions, **about)
