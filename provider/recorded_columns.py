"""Conversion of the columns and cells of a recorded step to the operations and readings that a store contains.

A store has column dependencies for each reading of a write. Cells that are recorded one by one are grouped into
readings whose rows all have the same column dependencies, so no detail is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.errors import InvalidWriteError, UnknownColumnError
from provspark.model.operations import Column, ColumnLink, Dependence, Operation, Operations
from provspark.model.pending import PendingVersion
from provspark.model.writes import Kind

__all__ = [
    "CellPairs",
    "ColumnMatrix",
    "Links",
    "RecordedInput",
    "asked_cells",
    "columns_of",
    "operations_of",
    "parted",
]

ColumnMatrix = Mapping[str, str | Sequence[str] | Mapping[str, Dependence]]
"""Source columns by output column. Without a mapping to their dependences, these are ``transformation``."""
CellPairs = tuple[npt.ArrayLike, Sequence[str], npt.ArrayLike, Sequence[str]]
"""Output rows, their columns, source rows, their columns: four sequences of equal length."""
Links = frozenset[tuple[str, str, Dependence]]


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """One reading of an input: its rows' relation to output rows, and its column links, or None if not known."""

    source: PendingVersion
    boxes: Boxes
    kind: Kind
    columns: Links | None


def columns_of(given: ColumnMatrix, output: PendingVersion, source: PendingVersion) -> Links:
    """Check a matrix of columns against the columns of both datasets, and return it as links.

    Raises
    ------
    UnknownColumnError, InvalidWriteError
    """
    links = set()
    for out, sources in given.items():
        if isinstance(sources, str):
            told: dict[str, Dependence] = {sources: "transformation"}
        else:
            told = dict(sources) if isinstance(sources, Mapping) else dict.fromkeys(sources, "transformation")
        for name, dependence in told.items():
            if dependence not in get_args(Dependence):
                raise InvalidWriteError(
                    f"no dependence {dependence!r} for column {name!r} of {source.dataset}; use one of "
                    f"{', '.join(get_args(Dependence))}"
                )
            links.add((_known(out, output), _known(name, source), dependence))
    return frozenset(links)


def parted(
    batches: Sequence[CellPairs], output: PendingVersion, source: PendingVersion
) -> list[tuple[Links, Int64, Int64]]:
    """Group cells into readings, and return the column links of each with its output rows and source rows."""
    by_pair: dict[tuple[int, int], set[tuple[str, str]]] = {}
    for out, out_columns, src, src_columns in batches:
        arrays = [np.asarray(a).tolist() for a in (out, out_columns, src, src_columns)]
        if len({len(a) for a in arrays}) > 1:
            lengths = ", ".join(str(len(a)) for a in arrays)
            raise InvalidWriteError(
                f"cells must be four lists of equal length (output rows, their columns, source rows, their columns); "
                f"those for {source.dataset} have the lengths {lengths}"
            )
        for o, a, s, b in zip(*arrays, strict=True):
            by_pair.setdefault((o, s), set()).add((a, b))
    by_columns: dict[frozenset[tuple[str, str]], list[tuple[int, int]]] = {}
    for pair, columns in by_pair.items():
        by_columns.setdefault(frozenset(columns), []).append(pair)
    told = []
    for taken, pairs in sorted(by_columns.items(), key=lambda item: sorted(item[0])):
        links: Links = frozenset((_known(a, output), _known(b, source), "transformation") for a, b in taken)
        rows = np.array(sorted(pairs), dtype=np.int64)
        told.append((links, rows[:, 0], rows[:, 1]))
    return told


def operations_of(output: PendingVersion, readings: Sequence[RecordedInput]) -> Operations | None:
    """Return operations with the recorded column dependencies of a step; None if no columns were recorded."""
    if all(r.columns is None for r in readings):
        return None
    operations: list[Operation] = []
    made = tuple(Column(i, f.name, f.type) for i, f in enumerate(output.fields))
    by_name = {c.name: c.id for c in made}
    number = len(made)
    links: list[ColumnLink] = []
    for axis, reading in enumerate(readings, 1):
        if reading.columns is None:
            continue
        columns = tuple(Column(number + i, f.name, f.type) for i, f in enumerate(reading.source.fields))
        number += len(columns)
        known = {c.name: c.id for c in columns}
        text = f"read {reading.source.dataset}"
        operations.append(Operation(len(operations), "Recorded", ("source",), text, columns=columns, axes=(axis,)))
        context = reading.kind == "context"
        links += [ColumnLink(by_name[a], known[b], dependence, context) for a, b, dependence in sorted(reading.columns)]
    last = len(operations)
    text = "recorded: what made it was not captured"
    before = tuple(range(last))
    operations.append(Operation(last, "Recorded", (), text, before, columns=made, links=tuple(links), opaque=text))
    return Operations(tuple(operations))


def _known(name: str, version: PendingVersion) -> str:
    names = [f.name for f in version.fields]
    if name in names:
        return name
    if not names:
        raise InvalidWriteError(
            f"the columns of {version.dataset} are not known; pass them: "
            f"Data({str(version.dataset)!r}, columns=[(name, type)])"
        )
    near = get_close_matches(str(name), names, 3, 0.6)
    hint = "did you mean " + " or ".join(near) + "?" if near else "it has " + ", ".join(names)
    raise UnknownColumnError(f"{version.dataset} has no column {name!r}; {hint}")


def asked_cells(cells: Callable[[Int64], Any], output: PendingVersion, most: int) -> list[CellPairs]:
    """Call `cells` for all rows of the files that the step wrote, at most `most` rows at a time."""
    files = output.files
    answers: list[CellPairs] = []
    for base, n, mine in zip(files.bases.tolist(), files.rows.tolist(), files.written.tolist(), strict=False):
        for low in range(base, base + n if mine else base, most):
            wanted = np.arange(low, min(low + most, base + n), dtype=np.int64)
            told = cells(wanted)
            if not isinstance(told, Sequence | np.ndarray) or len(told) != 4:
                raise InvalidWriteError(
                    f"cells must be four lists: output rows, their columns, source rows, their columns; the callable "
                    f"returned {told!r:.100}"
                )
            rows = np.asarray(told[0])
            if len(rows) and (rows.min() < wanted[0] or rows.max() > wanted[-1]):
                raise InvalidWriteError(
                    f"asked for cells of output rows {wanted[0]} to {wanted[-1]}, the callable returned cells of rows "
                    f"{rows.min()} to {rows.max()}; return only the requested ones"
                )
            answers.append((told[0], told[1], told[2], told[3]))
    return answers
