"""Compositions: the number of witnesses of each row by their value in a column (for the word, see docs/glossary.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provspark.index_store.query.nodes import VersionReference
from provspark.index_store.query.relation import image
from provspark.index_store.query.shared_records import settled
from provspark.index_store.query.tally import tally
from provspark.index_store.query.walk import Stand
from provspark.index_store.values.paths import find_path, read_column
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.lists import concat
from provspark.model.runs import Runs

_ALL_BELOW = 8
"""A version is read in full if more than one in so many of its rows is needed."""


def divide(stands: Sequence[Stand], labels: Runs, column: str) -> pa.Table:
    """Count the distinct witnesses of each label by their value in a column.

    Returns
    -------
    pyarrow.Table
        Columns row, value and witnesses; sorted by row, then value, with null last.

    Raises
    ------
    UnknownColumnError, ConditionError, VersionChangedError, ValuesUnavailableError
    """
    moved: list[Boxes] = []
    held: list[Runs] = []
    values: list[pa.Array] = []
    base = 0
    for at, boxes in _by_version(stands):
        rows = image(boxes)
        # Versions are placed one after the other on one axis, so that one count covers all.
        moved.append(Boxes(boxes.out, boxes.n_out, boxes.src + base, boxes.n_src, boxes.diagonal))
        held.append(Runs(rows.starts + base, rows.lengths))
        values.append(_values(at, rows, column))
        base += at.version.rows
    if not moved:
        kind = pa.null()
        return pa.table(
            {"row": pa.array([], pa.int64()), "value": pa.array([], kind), "witnesses": pa.array([], pa.int64())}
        )
    held_runs = Runs(np.concatenate([r.starts for r in held]), np.concatenate([r.lengths for r in held]))
    distinct, codes = _coded(values)
    counts = tally(concat(moved), held_runs, codes)
    return pa.table(
        {"row": labels.at(counts.label), "value": distinct.take(pa.array(counts.code)), "witnesses": counts.count}
    )


def _by_version(stands: Sequence[Stand]) -> list[tuple[VersionReference, Boxes]]:
    versions: dict[object, tuple[VersionReference, list[Boxes]]] = {}
    for stand in settled(stands):
        versions.setdefault(stand.at.key, (stand.at, []))[1].append(stand.boxes)
    return [(at, concat(parts)) for at, parts in versions.values()]


def _values(at: VersionReference, rows: Runs, column: str) -> pa.Array:
    path = find_path(at.version, column)
    every = rows.count * _ALL_BELOW > at.version.rows
    return read_column(at.version, at.files, path, rows, every=every)


def _coded(parts: list[pa.Array]) -> tuple[pa.Array, Int64]:
    """Return the distinct values in order, null last, and the index of each value among them."""
    values = pa.chunked_array(parts) if len({p.type for p in parts}) == 1 else pa.chunked_array(_unified(parts))
    distinct = values.unique()
    distinct = distinct.take(pc.sort_indices(distinct))
    codes: Int64 = pc.index_in(values, value_set=distinct).to_numpy().astype(np.int64)
    return distinct, codes


def _unified(parts: list[pa.Array]) -> list[pa.Array]:
    """Cast the values of a column, whose type may differ between versions, to the widest type, or else to text."""
    try:
        kind = pa.unify_schemas([pa.schema([("v", p.type)]) for p in parts], promote_options="permissive")[0].type
    except pa.ArrowException:
        kind = pa.string()
    return [p.cast(kind) for p in parts]
