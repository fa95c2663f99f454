"""Records that several versions of a dataset share, because they contain the same file."""

from __future__ import annotations

from collections.abc import Sequence

from provspark.index_store.query.links import between
from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import compose, identity, image, restrict
from provspark.index_store.query.walk import Stand
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import concat
from provspark.model.runs import Runs


def shared(at: VersionReference, other: VersionReference) -> Boxes:
    """Return the relation from rows of one version to the rows of another that are the same records."""
    if at.key == other.key:
        return identity(Runs.span(at.version.rows))
    return concat([link.boxes for link in between(at, other).links])


def settled(stands: Sequence[Stand]) -> list[Stand]:
    """Move each record that several versions share to the first of them, so that it occurs in one version only."""
    out: list[Stand] = []
    homes: dict[object, VersionReference] = {}
    for stand in stands:
        rest = stand.boxes
        for home in homes.values():
            if home.key == stand.at.key or not len(rest):
                continue
            same = shared(stand.at, home)
            moved = compose(rest, same)
            if len(moved):
                out.append(Stand(home, moved, stand.occurrence, stand.kind))
                rest = restrict(rest, image(rest) - Runs.united(same.out, same.n_out))
        homes.setdefault(stand.at.key, stand.at)
        if len(rest):
            out.append(Stand(stand.at, rest, stand.occurrence, stand.kind))
    return out
