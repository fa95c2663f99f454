"""Finds files that no captured step wrote, in datasets that captured steps write: rows may have gone into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from provspark.index_store.query.current_versions import Current, Currents
from provspark.index_store.query.links import Linker
from provspark.index_store.query.lost_ways import route
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.walk import plan
from provspark.index_store.values.listing import Listed
from provspark.model.datasets import Dataset, Files
from provspark.model.runs import Runs

__all__ = ["Strange", "in_current", "on_the_way", "since"]

Strange = tuple[tuple[str, int], ...]
"""Paths of files, and their times in milliseconds."""


def in_current(back: Linker, currents: Currents, current: Current) -> Strange:
    """Return the files in a dataset's current version, and beside it, that no captured step wrote."""
    return tuple(sorted((*current.unknown, *_unwritten(back, currents, current.at, current.missing))))


def on_the_way(
    ahead: Linker, back: Linker, currents: Currents, start: VersionReference, to: Dataset | None
) -> list[tuple[VersionReference, Strange]]:
    """Return such files in what the writes downstream of a version read, or the writes on the way to a dataset."""
    key = ("strangers", start.key, to)
    strange: list[tuple[VersionReference, Strange]] | None = back.routes.get(key)
    if strange is None:
        nodes: Sequence[WriteNode] = plan(ahead, [start], "forward").nodes
        if to is not None:
            nodes = route(back, to).nodes
        read = {at.key: at for n in nodes for at in n.inputs.values() if currents.derived(at.version.dataset)}
        told = ((at, _unwritten(back, currents, at)) for at in read.values())
        strange = [(at, files) for at, files in told if files]
        back.routes.put(key, strange, 1 + len(nodes))
    return strange


def since(files: Files, rows: Runs) -> int:
    """Return when the oldest of the files with given rows was written, in milliseconds; 0 if there are none."""
    times = files.mtimes[rows.counts(files.bases) > 0]
    return int(times.min()) if len(times) else 0


def _unwritten(back: Linker, currents: Currents, at: VersionReference, missing: Iterable[int] = ()) -> Strange:
    if at.version.format == "jdbc":
        return ()
    loose = back.links(at, "backward").loose
    if not loose:
        return ()
    held = (loose.counts(at.files.bases) > 0).tolist()
    left = frozenset(missing)
    files = [f for i, f in enumerate(_listed(at.files)) if held[i] and i not in left]
    return tuple((path, time) for path, _, time in currents.told(files))


def _listed(files: Files) -> Iterator[Listed]:
    return zip(files.paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True)
