"""`record`: store the lineage of a step that was not captured, from row relations that you provide.

>>> import provspark
>>> provspark.record(                                               # doctest: +SKIP
...     "file:///data/prov", task="export", output="/data/out.csv",
...     relations=[provspark.Relation("/data/in", pairs=([0, 1], [4, 2]))],
... )
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from provspark.index_store.query.graph import Graph
from provspark.index_store.query.nodes import FileIdentity, VersionReference
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import concat, from_pairs
from provspark.model.datasets import Dataset, Field, Files
from provspark.model.errors import InvalidWriteError, RowOutOfRangeError
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.release import __version__
from provspark.model.steps import Manifest, StepKey
from provspark.model.writes import Axis, Kind
from provspark.recorded_columns import (
    CellPairs,
    ColumnMatrix,
    RecordedInput,
    asked_cells,
    columns_of,
    operations_of,
    parted,
)

if TYPE_CHECKING:
    from provspark.index_store.store.store import Store

__all__ = ["Data", "Relation", "record"]

_AT_ONCE = 1 << 20
Pairs = tuple[npt.ArrayLike, npt.ArrayLike]


@dataclass(frozen=True)
class Data:
    """A dataset in its current state.

    Parameters
    ----------
    name : str
        A path or URL.
    format : str, optional
        ``parquet``, ``orc``, ``csv``, ``json`` or ``text``. Default: the format that the store has for these files, or
        else the suffix of the first file's name.
    options : mapping, optional
        Spark's reader options that determine the rows, for example ``{"header": "true"}``.
    columns : sequence of (name, type), optional
        Names and Spark types of the columns, partition columns last. Parquet and ORC files contain them. Row ids do not
        need them.
    """

    name: str
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Relation:
    """Relation of output rows to the rows of one reading of an input. Set one of `pairs`, `boxes`, `rows`, `cells`.

    Parameters
    ----------
    source : str or Data
        The input. Each relation is an occurrence of its own.
    pairs : two int arrays of equal length, optional
        Output rows, and the source row of each.
    boxes : Boxes, or sequence of (out, n_out, src, n_src, diagonal), optional
        Rectangles: all output rows of a range came from all source rows of another or, if `diagonal` is true, each from
        the one at the same position.
    rows : callable, optional
        Called with output rows (int64, ascending), some at a time; it returns their pairs.
    columns : mapping, optional
        Source columns by output column: a name, several names, or a mapping from names to their dependence
        (``identity``, ``transformation``, ``aggregation``, ``join`` …). Default: any column may depend on any other.
    cells : callable, optional
        Called with output rows; it returns four lists of equal length: output rows, their columns, source rows, their
        columns. Rows with different column dependencies become separate readings.
    kind : {"data", "context"}
        The kind of the edges.
    """

    source: str | Data
    pairs: Pairs | None = None
    boxes: Boxes | Sequence[tuple[int, int, int, int, bool]] | None = None
    rows: Callable[[Int64], Pairs] | None = None
    columns: ColumnMatrix | None = None
    cells: Callable[[Int64], CellPairs] | None = None
    kind: Kind = "data"


def record(
    store: str,
    *,
    task: str,
    output: str | Data,
    relations: Sequence[Relation],
    run: str | None = None,
    dag: str = "",
    try_number: int = 1,
    written: Sequence[str] | None = None,
) -> Manifest:
    """Store a step that was not captured: which rows of its output came from which rows of its inputs.

    Row ids are 0 … n-1 within a dataset: files in path order, rows in file order. The datasets are read in their
    current state, so record the step before they change.

    Parameters
    ----------
    store : str
        Folder or URL of a store. If it does not exist, it is created.
    task, run, dag, try_number
        The step's key. Default of `run`: the current time.
    output : str or Data
        The dataset that the step wrote.
    relations : sequence of Relation
    written : sequence of str, optional
        Paths of the output's files that this step wrote, relative to the output. Default: all files that no other step
        of the store wrote.

    Returns
    -------
    Manifest
        The manifest of the published step. Query the step with `provspark.open`.

    Raises
    ------
    RowOutOfRangeError
        A pair or box contains a row that a dataset does not have.
    InvalidWriteError
        A dataset has no files, the step wrote none of the output's files, a relation has none or more than one of its
        four forms, or a relation contains rows of files that the step did not write.
    UnknownColumnError
        A dataset does not have a column.
    StepExistsError
        The store already has this step.
    ValuesUnavailableError
        The rows of a file can't be counted.
    """
    from provspark.index_store.store.store import Store

    if type(try_number) is not int or not all(type(n) is str and n.isprintable() for n in (task, dag, run or "")):
        named = f"task {task!r}, run {run!r}, dag {dag!r}, try_number {try_number!r}"
        raise InvalidWriteError(
            f"task, run and dag must be printable text, and try_number must be an integer; found {named}"
        )
    opened = Store.open(store, create=True)
    known = _KnownVersions(opened)
    made = _claimed(known.version(_data(output)), known, written)
    versions = [known.version(_data(r.source)) for r in relations]
    for version in versions:
        _read_before(version, made)
    readings = [x for r, v in zip(relations, versions, strict=True) for x in _readings(r, made, v)]
    axes = [Axis("output", made.files.total, made.files.identity(made.dataset), label=made.dataset.uri)]
    tensors = []
    for number, reading in enumerate(readings):
        version = reading.source
        identity = version.files.identity(version.dataset)
        axes.append(Axis("input", version.files.total, identity, number, version.dataset.uri))
        if len(reading.boxes):
            tensors.append(PendingTensor(0, number + 1, reading.boxes, reading.kind))
    inputs = {v.files.identity(v.dataset): v for v in versions}
    told = operations_of(made, readings)
    pending = PendingWrite(made, "exact", tuple(inputs.values()), tuple(axes), tensors, operations=told)
    now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    writer = opened.writer(StepKey(task, now if run is None else run, dag, try_number=try_number))
    try:
        writer.add(pending)
        engine = (("provspark", __version__), ("source", "recorded"))
        return writer.publish(status="succeeded", started=now, ended=now, engine=engine)
    except BaseException:
        writer.abandon()
        raise


class _KnownVersions:
    """Versions of datasets that a store knows."""

    def __init__(self, store: Store) -> None:
        self._graph = Graph([store])

    def version(self, data: Data) -> PendingVersion:
        """Return the current version of a dataset. Its rows are counted only if no step of the store has done so."""
        from provspark.index_store.values.present_version import list_files, present_version

        dataset = self._graph.named(data.name)
        listed = list_files(dataset)
        references = [*self._graph.written.by_name.get(dataset, ()), *self._graph.read.by_name.get(dataset, ())]
        if not (data.format or data.options or data.columns):
            for at in reversed(references):
                if _files(at) == listed:
                    v = at.version
                    files = Files.of([(*f, n, False) for f, n in zip(listed, at.files.rows.tolist(), strict=True)])
                    return PendingVersion(dataset, files, v.format, v.options, v.fields, v.partitions)
        fields = tuple(Field(*c) for c in data.columns)
        return present_version(dataset, data.format or _format(dataset, listed[0][0]), data.options, fields)

    def makers(self, version: PendingVersion) -> dict[str, str]:
        """Return the id of the step that wrote each file, by path, for files that a step of the store wrote."""
        made: dict[FileIdentity, str] = {}
        for at in self._graph.written.related(version.dataset):
            made |= {place: at.node.step for place, i in at.places() if at.files.written[i]}
        places = zip(version.files.paths, _places(version), strict=True)
        return {path: made[place] for path, place in places if place in made}


def _data(given: str | Data) -> Data:
    return given if isinstance(given, Data) else Data(given)


def _files(at: VersionReference) -> list[tuple[str, int, int]]:
    return list(zip(at.files.paths, at.files.sizes.tolist(), at.files.mtimes.tolist(), strict=True))


def _format(dataset: Dataset, path: str) -> str:
    name = (path or dataset.name).rsplit("/", 1)[-1]
    for suffix in reversed(name.lower().split(".")[1:]):
        format_ = {"txt": "text", "jsonl": "json", "ndjson": "json"}.get(suffix, suffix)
        if format_ in ("parquet", "orc", "csv", "json", "text"):
            return format_
    raise InvalidWriteError(
        f"the format of {dataset} can't be determined from the name {name!r}; pass it: Data({str(dataset)!r}, format=…)"
    )


def _claimed(version: PendingVersion, known: _KnownVersions, written: Sequence[str] | None) -> PendingVersion:
    """Mark the files that the step wrote."""
    makers, files = known.makers(version), version.files
    if isinstance(written, str) or (written is not None and not written):
        raise InvalidWriteError(f"written= must list the files that the step wrote, one or more; found {written!r}")
    mine = set(files.paths) - makers.keys() if written is None else set(written)
    unknown = sorted(mine - set(files.paths))
    if unknown:
        raise InvalidWriteError(
            f"{version.dataset} has no file {unknown[0]!r}; in written=, pass paths relative to the dataset's folder"
        )
    taken = sorted(mine & makers.keys())
    if taken or not mine:
        which = f"file {taken[0]!r}" if taken else "every file"
        steps = {makers[p] for p in taken} or set(makers.values())
        raise InvalidWriteError(
            f"{which} of {version.dataset} was made by step {', '.join(sorted(steps))}; record only files that no step "
            f"of the store made"
        )
    marks = np.array([p in mine for p in files.paths], dtype=np.bool_)
    made = Files(files.paths, files.sizes, files.mtimes, files.rows, marks)
    return PendingVersion(version.dataset, made, version.format, version.options, version.fields, version.partitions)


def _read_before(source: PendingVersion, made: PendingVersion) -> None:
    """Check that the step did not read a file that it wrote."""
    ours = {place for place, mine in zip(_places(made), made.files.written.tolist(), strict=True) if mine}
    both = [place for place in _places(source) if place in ours]
    if both:
        raise InvalidWriteError(
            f"{both[0][1]} is read by the step that made it; pass another source, or list in written= only the files "
            f"that the step made"
        )


def _places(version: PendingVersion) -> list[FileIdentity]:
    """Return the identity of each file of a version."""
    base, files = version.dataset.name.rstrip("/"), version.files
    paths = [f"{base}/{path}" if path else version.dataset.name for path in files.paths]
    told = zip(paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True)
    return [(version.dataset.namespace, *t) for t in told]


def _readings(relation: Relation, output: PendingVersion, source: PendingVersion) -> Iterator[RecordedInput]:
    """Yield the reading of a relation; for `cells`, one for each set of column dependencies."""
    given = [name for name in ("pairs", "boxes", "rows", "cells") if getattr(relation, name) is not None]
    if len(given) != 1:
        forms = " and ".join(given) or "nothing"
        raise InvalidWriteError(
            f"the relation to {source.dataset} has {forms}; pass exactly one of pairs, boxes, rows, cells"
        )
    if relation.cells is None:
        columns = None if relation.columns is None else columns_of(relation.columns, output, source)
        yield RecordedInput(source, _boxes(relation, output, source), relation.kind, columns)
        return
    if relation.columns is not None:
        raise InvalidWriteError(
            f"the relation to {source.dataset} has both cells and columns; pass only cells, which include the columns"
        )
    for columns, out, src in parted(asked_cells(relation.cells, output, _AT_ONCE), output, source):
        boxes = from_pairs(*_checked((out, src), output, source))
        _made(boxes, output)
        yield RecordedInput(source, boxes, relation.kind, columns)


def _boxes(relation: Relation, output: PendingVersion, source: PendingVersion) -> Boxes:
    if relation.pairs is not None:
        boxes = from_pairs(*_checked(relation.pairs, output, source))
    elif relation.rows is not None:
        boxes = concat([from_pairs(*p) for p in _asked(relation.rows, output, source)])
    elif isinstance(relation.boxes, Boxes):
        boxes = relation.boxes
    else:
        boxes = _listed(relation.boxes or (), source)
    if len(boxes):
        ends = int((boxes.out + boxes.n_out).max()) - 1, int((boxes.src + boxes.n_src).max()) - 1
        for at, low, high in zip((output, source), (int(boxes.out.min()), int(boxes.src.min())), ends, strict=True):
            _within(at, low, high)
        _made(boxes, output)
    return boxes


def _listed(boxes: Sequence[tuple[int, int, int, int, bool]], source: PendingVersion) -> Boxes:
    """Return boxes that were passed as a sequence of tuples."""
    given = [tuple(box) for box in boxes]
    wrong = next((box for box in given if len(box) != 5 or np.array(box[:4]).dtype.kind not in "iu"), None)
    if wrong is not None:
        raise InvalidWriteError(
            f"a box must be four integers, out, n_out, src, n_src, and a flag, diagonal; found {wrong!r} for "
            f"{source.dataset}"
        )
    table = np.array([box[:4] for box in given], dtype=np.int64).reshape(-1, 4)
    out, n_out, src, n_src = table.T
    return Boxes(out, n_out, src, n_src, np.array([box[4] for box in given], dtype=np.bool_))


def _asked(
    rows: Callable[[Int64], Any], output: PendingVersion, source: PendingVersion
) -> Iterator[tuple[Int64, Int64]]:
    """Call `rows` for all rows of the files that the step wrote, some at a time."""
    files = output.files
    for base, n, mine in zip(files.bases.tolist(), files.rows.tolist(), files.written.tolist(), strict=False):
        for low in range(base, base + n if mine else base, _AT_ONCE):
            wanted = np.arange(low, min(low + _AT_ONCE, base + n), dtype=np.int64)
            out, src = _checked(rows(wanted), output, source)
            if len(out) and (out.min() < wanted[0] or out.max() > wanted[-1]):
                raise InvalidWriteError(
                    f"asked for output rows {wanted[0]} to {wanted[-1]}, the callable for {source.dataset} returned "
                    f"rows {out.min()} to {out.max()}; return only pairs of the requested rows"
                )
            yield out, src


def _checked(pairs: Any, output: PendingVersion, source: PendingVersion) -> tuple[Int64, Int64]:
    try:
        out, src = (np.asarray(a) for a in pairs)
    except (TypeError, ValueError):
        raise InvalidWriteError(
            f"pairs must be two arrays, of output rows and of rows of {source.dataset}; found {type(pairs).__name__}"
        ) from None
    for array in (out, src):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)) or len(out) != len(src):
            raise InvalidWriteError(
                f"pairs must be two integer arrays of equal length; found {out.dtype} of shape {out.shape} and "
                f"{src.dtype} of shape {src.shape} for {source.dataset}"
            )
    for at, rows in ((output, out), (source, src)):
        if len(rows):
            _within(at, int(rows.min()), int(rows.max()))
    return out.astype(np.int64), src.astype(np.int64)


def _within(version: PendingVersion, low: int, high: int) -> None:
    total = version.files.total
    if low < 0 or high >= total:
        raise RowOutOfRangeError(str(version.dataset), low if low < 0 else high, total)


def _made(boxes: Boxes, output: PendingVersion) -> None:
    """Check that no box contains rows of files that the step did not write."""
    files = output.files
    others = np.flatnonzero(~files.written & (files.rows > 0))
    for at in others.tolist():
        low, high = int(files.bases[at]), int(files.bases[at + 1])
        if ((boxes.out < high) & (boxes.out + boxes.n_out > low)).any():
            raise InvalidWriteError(
                f"a relation contains rows {low} to {high - 1} of {output.dataset}, which are in the file "
                f"{files.paths[at]!r} that this step did not make; leave them out, or add the file to written="
            )
