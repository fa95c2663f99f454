"""Walk from write to write: the writes that a set of rows came through or went into, with their rows."""

from __future__ import annotations

from collections.abc import Iterator

from provspark.index_store.query.links import Linker, Links
from provspark.index_store.query.nodes import VersionReference, WriteNode
from provspark.index_store.query.relation import compose, gathered, image
from provspark.index_store.query.walk import plan
from provspark.model.runs import Runs
from provspark.replay.write_rows import results_of, sources_of

__all__ = ["ahead", "back", "crossed"]


def back(linker: Linker, at: VersionReference, rows: Runs) -> Iterator[tuple[WriteNode, Runs]]:
    """Yield the writes that rows came through, nearest first, each with its output rows."""
    waiting = {node: runs for _, node, runs in crossed(linker.links(at, "backward"), rows)}
    for node in plan(linker, [at], "backward").nodes:
        mine = waiting.pop(node, None)
        if mine is None:
            continue
        yield node, mine
        if node.write.coverage == "untracked":
            continue
        for axis, runs in sources_of(node, mine).items():
            read = node.inputs[node.write.axes[axis].version]
            for _, before, there in crossed(linker.links(read, "backward"), runs):
                waiting[before] = waiting[before] | there if before in waiting else there


def ahead(linker: Linker, at: VersionReference, rows: Runs) -> Iterator[tuple[WriteNode, dict[str, Runs]]]:
    """Yield the writes that rows went into, nearest first, each with its input rows by version."""
    waiting: dict[WriteNode, dict[str, Runs]] = {}

    def arrive(links: Links, there: Runs) -> None:
        for version, node, runs in crossed(links, there):
            inbox = waiting.setdefault(node, {})
            inbox[version] = inbox[version] | runs if version in inbox else runs

    arrive(linker.links(at, "forward"), rows)
    for node in plan(linker, [at], "forward").nodes:
        mine = waiting.pop(node, None)
        if mine is None:
            continue
        yield node, mine
        axes = enumerate(node.write.axes)
        made = results_of(node, {i: mine[a.version] for i, a in axes if a.role == "input" and a.version in mine})
        if made:
            arrive(linker.onward(node), made)


def crossed(links: Links, rows: Runs) -> Iterator[tuple[str, WriteNode, Runs]]:
    """Follow links to versions with the same files: yield each version's id, its write, and the rows in it."""
    for link in links.links:
        there = rows if link.whole else image(compose(gathered(rows), link.boxes))
        if there:
            yield link.target.version.id, link.target.node, there
