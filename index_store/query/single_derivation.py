"""One derivation of a row back to its sources: at each step, one row of every input that was joined."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import compose, identity, image
from provspark.index_store.query.tuples import derivations, leaves
from provspark.model.arrays import Int64
from provspark.model.progress import enter
from provspark.model.runs import Runs

__all__ = ["one_derivation"]


def one_derivation(
    linker: Linker, start: VersionReference, row: int, within: Container[object] | None = None
) -> Mapping[object, Runs]:
    """Return the rows of the first derivation of a row, of the first derivation of each of these rows, and so on.

    Writes that were not captured row by row are left out, because it is unknown which of their rows belong together.

    Parameters
    ----------
    within : container of keys of versions, optional
        Leave out writes that read none of these versions.

    Returns
    -------
    mapping
        Rows by the key of the version, including the row itself.
    """
    rows_of: dict[object, set[int]] = {}
    waiting = [(start, row)]
    while waiting:
        at, here = waiting.pop()
        known = rows_of.setdefault(at.key, set())
        if here in known:
            continue
        known.add(here)
        itself = identity(Runs.of(_ids(here)))
        for link in linker.links(at, "backward").links:
            made = itself if link.whole else compose(itself, link.boxes)
            node = link.target.node
            if not len(made) or node.write.coverage != "exact":
                continue
            if within is not None and not any(at.key in within for at in node.inputs.values()):
                continue
            enter(node.step)
            rows_of.setdefault(link.target.key, set()).update(image(made).rows().tolist())
            paths = leaves(node)
            first = next(derivations(node, made, paths, {}, 1))
            for path in paths:
                axis = node.write.axes[node.write.tensors[path[-1]].src]
                waiting += [(node.inputs[axis.version], int(r)) for r in first.columns[path][:1] if r >= 0]
    return {key: Runs.of(_ids(*sorted(rows))) for key, rows in rows_of.items()}


def _ids(*rows: int) -> Int64:
    return np.array(rows, dtype=np.int64)
