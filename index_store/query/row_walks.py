"""Walks from rows to their sources or results, returned as an `Answer`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provspark.index_store.query.answer import Answer
from provspark.index_store.query.current_versions import VersionUsed
from provspark.index_store.query.links import Linker
from provspark.index_store.query.lost_ways import stops_around
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.reachable_rows import ReachTarget, reach
from provspark.index_store.query.trust import Trust
from provspark.index_store.query.uncaptured_tasks import stops_of_tasks
from provspark.index_store.query.walk import Stand
from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset
from provspark.model.runs import Runs
from provspark.model.writes import Kind

__all__ = ["follow"]


def follow(
    linker: Linker,
    start: VersionReference,
    labels: Runs,
    relation: Boxes,
    direction: Direction,
    *,
    to: ReachTarget | None,
    kinds: frozenset[Kind],
    via: Sequence[ReachTarget] = (),
    trust: Trust | None = None,
    used: tuple[VersionUsed, ...] = (),
) -> Answer:
    """Find the sources or the results of rows.

    Parameters
    ----------
    labels, relation
        The selected rows, and the relation from label i to the rows of `start` that represent the i-th of them.
    to, via, trust
        See `reach`.
    kinds : set of {"data", "context", "possible"}
        Each is complete on its own. Possible edges are also kept separately, whether or not they are requested.
    used : tuple of VersionUsed
        The version of the selected rows.

    Raises
    ------
    UntrackedError
        Nothing was found, and a path stopped at something that was not captured.
    """
    trust = trust or Trust()
    stands = [Stand(start, relation)]
    reached = reach(linker, stands, direction, to, context="context" in kinds, via=via, trust=trust)
    if direction == "forward" and isinstance(to, Dataset):
        around = stops_around(linker, start, reached.ends, to, trust)
        reached = replace(reached, stops=tuple(sorted({*reached.stops, *around})))
    tasks = stops_of_tasks(linker, stands, direction, to, trust, context="context" in kinds)
    if tasks:
        reached = replace(reached, stops=tuple(sorted({*reached.stops, *tasks})))
    return Answer.of(start.version, labels, direction, reached, kinds, trust.used, used)
