"""Relations from elsewhere: a step that nobody captured, told by what knows its rows.

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
    """A data set as it lies there now.

    Parameters
    ----------
    name : str
        A path or URL.
    format : str, optional
        ``parquet``, ``orc``, ``csv``, ``json`` or ``text``; without it, what the store knows of these files, else
        what the first file's name ends with.
    options : mapping, optional
        Spark's reader options that decide what a row is, as ``{"header": "true"}``.
    columns : sequence of (name, Spark's type), optional
        What values are read as, partition columns last; Parquet and ORC tell it themselves. Row ids need none.
    """

    name: str
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Relation:
    """How the output's rows came from one reading of an input; one of `pairs`, `boxes`, `rows` and `cells` is given.

    Parameters
    ----------
    source : str or Data
        The input. Each relation is an occurrence of its own.
    pairs : two int arrays of one length, optional
        Output rows, and the source row of each.
    boxes : Boxes, or sequence of (out, n_out, src, n_src, diagonal), optional
        Rectangles: all output rows of a range came from all source rows of another; or, where diagonal, row by row.
    rows : callable, optional
        Given some output rows (int64, ascending), returns pairs for them; it is called for all rows, some at a time.
    columns : mapping, optional
        Of each output column the source columns that go into it: a name, names, or names with how each goes in
        (``identity``, ``transformation``, ``aggregation``, ``join`` …). Without it every column may come of every one.
    cells : callable, optional
        Given some output rows, returns four lists of one length: output rows, the column of each, source rows, the
        column of each. Where rows take different columns, each such group of columns becomes a reading of its own.
    kind : {"data", "context"}
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
    """Store a step that was not captured: which rows of a data set came from which rows of others.

    Row ids are 0 … n-1 within a data set: files in path order, rows in file order. The data sets are looked at as they
    lie there, so record the step before they change.

    Parameters
    ----------
    store : str
        A store's folder or URL; it is made where there is none.
    task, run, dag, try_number
        What the step is called; without `run`, the time.
    output : str or Data
        What the step wrote.
    relations : sequence of Relation
    written : sequence of str, optional
        Paths of the output's files that this step made, relative to it. Without it, all that no step of the store made.

    Returns
    -------
    Manifest
        Of the published step; `provspark.open` answers about it.

    Raises
    ------
    RowOutOfRangeError
        A pair or box names a row that a data set does not have.
    InvalidWriteError
        A data set has no files, the step made none of them, a relation gives none or more than one of its four
        forms, or relates rows of files that the step did not make.
    UnknownColumnError
        A column that a data set does not have.
    StepExistsError
        The step is there already.
    ValuesUnavailableError
        The rows of a file can't be counted.
    """
    from provspark.index_store.store.store import Store

    if type(try_number) is not int or not all(type(n) is str and n.isprintable() for n in (task, dag, run or "")):
        named = f"task {task!r}, run {run!r}, dag {dag!r}, try_number {try_number!r}"
        raise InvalidWriteError(f"a step is named by printable text and tries count in whole numbers; found {named}")
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
    """What a store knows of data sets."""

    def __init__(self, store: Store) -> None:
        self._graph = Graph([store])

    def version(self, data: Data) -> PendingVersion:
        """The version that lies there; counted only where no step has."""
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
        """Paths of the files that a step made, with its id."""
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
    raise InvalidWriteError(f"the format of {dataset} does not show in {name!r}; give Data({str(dataset)!r}, format=…)")


def _claimed(version: PendingVersion, known: _KnownVersions, written: Sequence[str] | None) -> PendingVersion:
    """Mark the files that the step made."""
    makers, files = known.makers(version), version.files
    if isinstance(written, str) or (written is not None and not written):
        raise InvalidWriteError(f"written= names the files that the step made, one or more; found {written!r}")
    mine = set(files.paths) - makers.keys() if written is None else set(written)
    unknown = sorted(mine - set(files.paths))
    if unknown:
        raise InvalidWriteError(f"{version.dataset} has no file {unknown[0]!r}; written= names files relative to it")
    taken = sorted(mine & makers.keys())
    if taken or not mine:
        which = f"file {taken[0]!r}" if taken else "every file"
        steps = {makers[p] for p in taken} or set(makers.values())
        raise InvalidWriteError(
            f"{which} of {version.dataset} was made by step {', '.join(sorted(steps))}; record what nobody captured"
        )
    marks = np.array([p in mine for p in files.paths], dtype=np.bool_)
    made = Files(files.paths, files.sizes, files.mtimes, files.rows, marks)
    return PendingVersion(version.dataset, made, version.format, version.options, version.fields, version.partitions)


def _read_before(source: PendingVersion, made: PendingVersion) -> None:
    """A step can't have read the very files that it made."""
    ours = {place for place, mine in zip(_places(made), made.files.written.tolist(), strict=True) if mine}
    both = [place for place in _places(source) if place in ours]
    if both:
        raise InvalidWriteError(
            f"{both[0][1]} is read by the step that made it; rows come from what was there before: name another "
            f"source, or with written= the files that the step made"
        )


def _places(version: PendingVersion) -> list[FileIdentity]:
    """What tells each file of a version."""
    base, files = version.dataset.name.rstrip("/"), version.files
    paths = [f"{base}/{path}" if path else version.dataset.name for path in files.paths]
    told = zip(paths, files.sizes.tolist(), files.mtimes.tolist(), strict=True)
    return [(version.dataset.namespace, *t) for t in told]


def _readings(relation: Relation, output: PendingVersion, source: PendingVersion) -> Iterator[RecordedInput]:
    """One reading for a relation; of cells one for each group of columns that some rows take."""
    given = [name for name in ("pairs", "boxes", "rows", "cells") if getattr(relation, name) is not None]
    if len(given) != 1:
        forms = " and ".join(given) or "nothing"
        raise InvalidWriteError(
            f"the relation to {source.dataset} gives {forms}; give one of pairs, boxes, rows, cells"
        )
    if relation.cells is None:
        columns = None if relation.columns is None else columns_of(relation.columns, output, source)
        yield RecordedInput(source, _boxes(relation, output, source), relation.kind, columns)
        return
    if relation.columns is not None:
        raise InvalidWriteError(f"the relation to {source.dataset} gives cells, and columns beside; cells tell these")
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
    """Boxes that were given one by one."""
    given = [tuple(box) for box in boxes]
    wrong = next((box for box in given if len(box) != 5 or np.array(box[:4]).dtype.kind not in "iu"), None)
    if wrong is not None:
        raise InvalidWriteError(
            f"a box is four whole numbers, out, n_out, src, n_src, and whether it is diagonal; found {wrong!r} for "
            f"{source.dataset}"
        )
    table = np.array([box[:4] for box in given], dtype=np.int64).reshape(-1, 4)
    out, n_out, src, n_src = table.T
    return Boxes(out, n_out, src, n_src, np.array([box[4] for box in given], dtype=np.bool_))


def _asked(
    rows: Callable[[Int64], Any], output: PendingVersion, source: PendingVersion
) -> Iterator[tuple[Int64, Int64]]:
    """Ask a callable for all rows of the files that the step made."""
    files = output.files
    for base, n, mine in zip(files.bases.tolist(), files.rows.tolist(), files.written.tolist(), strict=False):
        for low in range(base, base + n if mine else base, _AT_ONCE):
            wanted = np.arange(low, min(low + _AT_ONCE, base + n), dtype=np.int64)
            out, src = _checked(rows(wanted), output, source)
            if len(out) and (out.min() < wanted[0] or out.max() > wanted[-1]):
                raise InvalidWriteError(
                    f"asked for output rows {wanted[0]} to {wanted[-1]}, the callable for {source.dataset} told of "
                    f"rows {out.min()} to {out.max()}"
                )
            yield out, src


def _checked(pairs: Any, output: PendingVersion, source: PendingVersion) -> tuple[Int64, Int64]:
    try:
        out, src = (np.asarray(a) for a in pairs)
    except (TypeError, ValueError):
        raise InvalidWriteError(f"pairs are two arrays, of output rows and of rows of {source.dataset}") from None
    for array in (out, src):
        if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)) or len(out) != len(src):
            raise InvalidWriteError(
                f"pairs are two arrays of whole numbers of one length; found {out.dtype} of shape {out.shape} and "
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
    """No box may hold rows of files that the step did not make."""
    files = output.files
    others = np.flatnonzero(~files.written & (files.rows > 0))
    for at in others.tolist():
        low, high = int(files.bases[at]), int(files.bases[at + 1])
        if ((boxes.out < high) & (boxes.out + boxes.n_out > low)).any():
            raise InvalidWriteError(
                f"a relation holds rows {low} to {high - 1} of {output.dataset}, which are of file "
                f"{files.paths[at]!r}, that this step did not make"
            )
