"""Stops for forward paths to a dataset that lineage can't follow: through writes with unknown inputs, or past steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import restrict
from provspark.index_store.query.trust import Trust
from provspark.index_store.query.walk import Stand, WalkPlan, missed, plan, stretch, uncaptured
from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import UNKNOWN_ORIGIN
from provspark.model.stops import Stop
from provspark.model.times import milliseconds

__all__ = ["route", "stops_around"]

_SECOND = 1000


def stops_around(
    linker: Linker, start: VersionReference, ends: Iterable[Stand], to: Dataset, trust: Trust
) -> set[Stop]:
    """Return the stops on forward paths to a dataset where rows may have bypassed capture.

    Parameters
    ----------
    ends : iterable of Stand
        Rows whose paths ended on drivers.
    """
    return {*_lost_stops(linker, start, to, trust), *_returned_stops(linker, ends, to, trust)}


def _lost_stops(linker: Linker, start: VersionReference, to: Dataset, trust: Trust) -> Iterator[Stop]:
    """Yield a stop for each write on the way to a dataset with unknown inputs, or of a partly uncaptured step.

    Rows may have gone into it. Writes that the start came from are left out, and steps that ended before the first file
    of the start was written.
    """
    before = set(plan(linker, [start], "backward").nodes)
    made = min(start.files.mtimes.tolist(), default=0)
    for node in route(linker, to).nodes:
        write = node.write
        if node in before or milliseconds(node.manifest.ended) < made:
            continue
        whys = [(missed(reason), reason.site) for reason in uncaptured(node.manifest)]
        if write.coverage == "untracked" and not write.complete:
            whys = [(str(write.reason) if write.reason else "no reason was stored", "")]
        for why, site in whys:
            if not trust.takes(node, "untracked", why, [site]):
                yield Stop("untracked", node.step, str(write.output.dataset), why)


def _returned_stops(linker: Linker, ends: Iterable[Stand], to: Dataset, trust: Trust) -> Iterator[Stop]:
    """Yield a stop for each read on a driver whose rows may have returned to a dataset outside of all steps.

    They may have if the dataset has a source that no captured step wrote, and that is newer than the read or of unknown
    age, such as a database table.
    """
    ends = list(ends)
    sources = list(_sources(linker, to)) if ends else []
    for end in ends:
        read = end.at.node
        at = int(end.at.files.mtimes[0]) // _SECOND * _SECOND
        for source, changed, step in sources:
            if step == read.step or (changed and at and changed < at):
                continue
            age = "is newer than the read" if changed and at else "has no known age"
            why = f"the rows may have returned through {source}: no captured step wrote it, and it {age}"
            if not trust.takes(read, "returned", why):
                yield Stop("returned", read.step, str(end.at.version.dataset), why)


def route(linker: Linker, to: Dataset) -> WalkPlan:
    """Return the writes of a dataset and those before them."""
    written = linker.graph.written
    own = written.by_name.get(to, [])
    if any(s.version.dataset != to for s in written.related(to)):  # writes under other names may have made its files
        return plan(linker, own, "backward")
    return plan(linker, (), "backward", [s.node for s in own])


def _sources(linker: Linker, to: Dataset) -> Iterator[tuple[str, int, str]]:
    """Yield the sources of a dataset that no captured step wrote, and when each last changed (0 if unknown).

    For rows that a script made from values of unknown origin, also yield the step that made them, because what that
    step read before is known.
    """
    way = route(linker, to)
    seen = set()
    stands = [*linker.graph.read.by_name.get(to, ()), *(s for node in way.nodes for s in node.inputs.values())]
    for at in stands:
        if at.key in seen:
            continue
        seen.add(at.key)
        if at.version.dataset.namespace.startswith("memory"):
            if at.version.options == UNKNOWN_ORIGIN:
                yield str(at.version.dataset), milliseconds(at.node.manifest.ended), at.node.step
            continue
        loose = linker.links(at, "backward").loose
        if not loose:
            continue
        files, bases = at.files, at.files.bases.tolist()
        changed = [
            mtime
            for mtime, base, rows in zip(files.mtimes.tolist(), bases, files.rows.tolist(), strict=False)
            if len(restrict(stretch(base, base, rows), loose))
        ]
        yield str(at.version.dataset), 0 if not all(changed) else max(changed, default=0), ""
