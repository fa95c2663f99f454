"""Writer of a step: its files first, its manifest last."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from typing import BinaryIO

import numpy as np

from provspark.index_store.profiles.profile import Profiles
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.file_lists import dump_files
from provspark.index_store.store.fs.folder import Folder
from provspark.index_store.store.notes import Note, NoteTexts
from provspark.index_store.store.paths import FOLDERS, NOTES
from provspark.index_store.store.pending import check_write
from provspark.index_store.store.processes import Process
from provspark.index_store.store.tensors import encoding
from provspark.index_store.store.tensors.encoding import BoxFile
from provspark.index_store.store.tensors.file_choice import chosen, cover, local, spooled_cover, to_a_block
from provspark.index_store.store.tensors.layout import Lead
from provspark.model.boxes import Boxes
from provspark.model.boxes.joining import FEW_JOINED
from provspark.model.boxes.lists import cells
from provspark.model.boxes.overlap import disjoint
from provspark.model.boxes.pairs import concat, merge, pairs, sort, transpose
from provspark.model.boxes.spool import Parts, Spool
from provspark.model.datasets import Version
from provspark.model.driver_datasets import NAMESPACE, is_driver
from provspark.model.errors import InvalidWriteError, StepExistsError, StoreWriteError
from provspark.model.operations import Operations
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.steps import FORMAT_VERSION, Manifest, Setting, StepKey, StepStatus, Task
from provspark.model.writes import StoredFile, Tensor, Untracked, Write

__all__ = ["StepWriter", "encode"]

_MANY = 1 << 20
"""Boxes of a tensor above which its files are written in parallel: a thread costs as much as some 10,000 of them."""
_FEW = 1 << 14
"""Boxes of a tensor up to which a write's tensors are stored without threads, which would take longer to start."""
_THREADS = 2
"""Tensors encoded at once. Sorting and compression release Python's lock, but more threads compete for it."""


_VersionKey = tuple[str, str, bytes] | tuple[str, str, bytes, bytes]
"""A version's id, unit, rows of each file and, for an output, whether the write created each file.

The id does not cover rows: within a step, a file may be counted only when it is read.
"""


class StepWriter:
    """One try at publishing a step.

    Several writers may write a step at once, each under its own file names; one publishes, the others raise
    StepExistsError. Readers ignore what a killed writer leaves.

    Attributes
    ----------
    taps : str
        URL of this writer's folder for taps, in the form of Hadoop's ``Path`` (not percent-encoded).
    """

    def __init__(
        self,
        folder: Folder,
        step: str,
        manifest: str,
        key: StepKey,
        driver_reads: Setting = "",
        dag: tuple[Task, ...] = (),
        run_started: str = "",
    ) -> None:
        self._folder, self._step, self._manifest, self._key = folder, step, manifest, key
        self._driver_reads, self._dag, self._run_started = driver_reads, dag, run_started
        self._mark = uuid.uuid4().hex[:12]
        self._writes: list[Write] = []
        self._reads: list[Write] = []
        self._files: list[StoredFile] = []
        self._versions: dict[_VersionKey, Version] = {}
        self._lists: Counter[str] = Counter()
        """Number of file lists stored per version id."""
        self._shared: dict[tuple[int, ...], Tensor] = {}
        """Tensors of reads that consist of one box, by this box."""
        self._texts = NoteTexts()
        self._done = False
        self._taps = f"{step}/{NOTES}/{self._mark}"
        self._made: list[str] = []
        self._unsettled: set[str] = set()
        for name in FOLDERS:
            folder.make(f"{step}/{name}")
        folder.make(self._taps)
        self._begun = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        self._note()
        self.taps = folder.raw_url(self._taps)

    def add(self, write: PendingWrite) -> Write:
        """Store the versions and tensors of a write; readers see them after `publish`.

        Raises
        ------
        InvalidWriteError
            The write is inconsistent.
        StoreReadOnlyError, StoreWriteError
            The store can't be written to.
        """
        added = self._stored(write, len(self._writes))
        self._writes.append(added)
        self._note()
        return added

    def add_read(self, read: PendingWrite, *, more: bool = False) -> Write:
        """Store a read on the driver as `add` stores a write; its output is a version of `driver_version`.

        Reads and writes are numbered separately. The rows of a write's ``reads`` axis are those of the reads added
        before it, in order. Pass `more` if another read or write follows at once; then only that one updates the
        notes for `repair`. The same errors as `add`.
        """
        if not is_driver(read.output.dataset):
            raise InvalidWriteError(f"the output of a driver's read must be in {NAMESPACE}, not {read.output.dataset}")
        added = self._stored(read, len(self._reads), of_driver=True)
        self._reads.append(added)
        if not more:
            self._note()
        return added

    def _stored(self, write: PendingWrite, index: int, *, of_driver: bool = False) -> Write:
        self._check_open()
        prefix = "read-" * of_driver
        add_tensor = self._add_shared if of_driver else self._add_tensor
        ids = check_write(write, sum(read.output.rows for read in self._reads))
        names = [f"{prefix}{index}-{k}" for k in range(len(write.tensors))]
        named = (write.output, *write.inputs)
        if all(len(tensor.boxes) <= _FEW for tensor in write.tensors):
            versions = self._add_versions(named, ids)
            tensors = tuple(map(add_tensor, write.tensors, names))
        else:
            with ThreadPoolExecutor(1) as beside, ThreadPoolExecutor(_THREADS) as pool:
                written = beside.submit(self._add_versions, named, ids)
                tensors = tuple(pool.map(add_tensor, write.tensors, names))
            versions = written.result()
        distinct = dict.fromkeys(versions[1:])
        return Write(
            index,
            versions[0],
            write.coverage,
            tuple(distinct),
            write.axes,
            tensors,
            write.reason,
            write.site,
            operations=self._add_sealed("operations", f"{prefix}{index}", write.operations),
            action=write.action,
            single=write.single,
            complete=write.complete,
        )

    def profile(self, write: Write, profiles: Profiles) -> None:
        """Store the profiles of the output and inputs of an added write."""
        self._check_open()
        at = self._writes.index(write)
        self._writes[at] = replace(write, profiles=self._add_sealed("profiles", str(write.index), profiles))
        self._note()

    def publish(
        self,
        *,
        status: StepStatus,
        started: str,
        ended: str,
        untracked: Iterable[Untracked] = (),
        engine: Iterable[tuple[str, str]] = (),
        error: str = "",
        driver_reads: Setting | None = None,
        dag: Iterable[Task] | None = None,
    ) -> Manifest:
        """Make the whole step visible to readers.

        If `driver_reads` or `dag` is None, it keeps its value from the start of the step.

        Raises
        ------
        StepExistsError
            Another writer published the step first; the files of this one are removed.
        StoreReadOnlyError, StoreWriteError
            The store can't be written to; call `publish` again, or `abandon`.
        """
        self._check_open()
        name = self._step.rsplit("/", 1)[1]
        manifest = Manifest(
            step=name,
            key=self._key,
            status=status,
            started=started,
            ended=ended,
            writes=tuple(self._writes),
            files=tuple(sorted(self._files, key=lambda f: f.path)),
            untracked=tuple(untracked),
            engine=tuple(engine),
            error=error,
            reads=tuple(self._reads),
            driver_reads=self._driver_reads if driver_reads is None else driver_reads,
            dag=self._dag if dag is None else tuple(dag),
            run_started=self._run_started,
        )
        path, data = f"{self._step}/{self._manifest}", manifests.dump(manifest)
        # Equal content is this writer's own: an earlier try that seemed to fail put it there.
        if not self._folder.put_if_absent(path, data) and self._folder.read(path)[0] != data:
            self.abandon()
            raise StepExistsError(
                f"Step {name} was published by another writer. This writer's files are removed; use the published step."
            )
        self._done = True
        self._remove_taps()
        return manifest

    def abandon(self) -> None:
        """Remove all files of this writer; may be called twice. A published step stays."""
        if self._done:
            return
        self._done = True
        for path in self._made:
            self._folder.remove(path)
        self._remove_taps()
        for name in FOLDERS:
            self._folder.remove_empty(f"{self._step}/{name}")
        self._folder.remove_empty(self._step)

    def _check_open(self) -> None:
        if self._done:
            raise StoreWriteError(f"The writer of step {self._key.id} has ended. Begin a new one.")

    def _note(self) -> None:
        """Note what is sealed so far, for `repair` to publish if this process ends early."""
        self._folder.settle(sorted(self._unsettled))
        self._unsettled.clear()
        note = Note(
            self._key,
            self._begun,
            tuple(self._writes),
            tuple(self._files),
            Process.current(),
            tuple(self._reads),
            self._driver_reads,
            self._dag,
            self._run_started,
        )
        self._folder.replace(f"{self._taps}.json", self._texts.dump(note))

    def _remove_taps(self) -> None:
        self._folder.remove(f"{self._taps}.json")
        self._folder.remove_tree(self._taps)
        self._folder.remove_empty(f"{self._step}/{NOTES}")

    def _put(self, path: str, content: bytes | BoxFile) -> None:
        full = f"{self._step}/{path}"
        self._made.append(full)  # first, so that `abandon` also removes a partial file
        self._unsettled.add(full.rsplit("/", 1)[0])
        with self._folder.create(full) as f:
            sink = _Hashed(f)
            footer = ""
            if isinstance(content, bytes):
                sink.write(content)
            else:
                footer = content.write(sink)
        self._files.append(StoredFile(path, sink.size, sink.sha256.hexdigest(), footer))

    def _add_versions(self, named: Sequence[PendingVersion], ids: Sequence[str]) -> list[Version]:
        """Store the output of a write, then its inputs; file lists that are already stored are reused.

        The list of an output says which files this write created. Inputs may use the list of any write.
        """
        return [self._add_version(v, i, output=not n) for n, (v, i) in enumerate(zip(named, ids, strict=True))]

    def _add_version(self, pending: PendingVersion, identity: str, *, output: bool) -> Version:
        same = (identity, pending.unit, pending.files.rows.tobytes())
        mine = (*same, pending.files.written.tobytes())
        known = self._versions.get(mine if output else same)
        if known is None:
            again = self._lists[identity]
            self._lists[identity] = again + 1
            path = f"versions/{identity}-{self._mark}{f'-{again}' * bool(again)}.parquet"
            self._put(path, dump_files(pending.files))
        else:
            path = known.files
        version = Version(
            id=identity,
            dataset=pending.dataset,
            rows=pending.files.total,
            n_files=len(pending.files.paths),
            format=pending.format,
            options=pending.options,
            fields=pending.fields,
            partitions=pending.partitions,
            files=path,
            unit=pending.unit,
        )
        self._versions.setdefault(same, version)
        if known is None:
            self._versions[mine] = version
        return version

    def _add_sealed(self, folder: str, index: str, body: Operations | Profiles | None) -> str:
        """Store a write's operations or profiles; return the path, "" if there are none."""
        if body is None:
            return ""
        path = f"{folder}/{index}-{self._mark}.json"
        self._put(path, manifests.seal(FORMAT_VERSION, body))
        return path

    def _add_tensor(self, pending: PendingTensor, number: str) -> Tensor:
        boxes = pending.boxes
        if isinstance(boxes, Parts) and not local(boxes):
            boxes = concat(list(boxes.parts()))
        if isinstance(boxes, Boxes):
            boxes = merge(disjoint(boxes))
        edges = boxes.edges
        if isinstance(boxes, Boxes):
            boxes = _plain(boxes, edges)
        files = encode(boxes)
        paths = [f"tensors/{number}-{self._mark}.{file.lead}.parquet" for file in files]
        if len(boxes) > _MANY and not isinstance(boxes, Spool):  # a spool saves memory
            with ThreadPoolExecutor(len(files)) as pool:
                list(pool.map(self._put, paths, files))
        else:
            list(map(self._put, paths, files))
        return Tensor(
            out=pending.out,
            src=pending.src,
            kind=pending.kind,
            edges=edges,
            boxes=len(boxes),
            by_out=paths[0],
            by_src=paths[1] if len(paths) > 1 else "",
        )

    def _add_shared(self, pending: PendingTensor, number: str) -> Tensor:
        """Store a read's tensor, or reuse the files of an equal one: coarse reads relate all rows to all rows."""
        one = _one(pending.boxes)
        tensor = self._shared.get(one) or self._add_tensor(pending, number)
        if one:
            self._shared[one] = tensor
        return replace(tensor, out=pending.out, src=pending.src, kind=pending.kind)


def _one(boxes: Boxes | Parts | Spool) -> tuple[int, ...]:
    """Return the only box of a tensor; () if it has none or several."""
    if not isinstance(boxes, Boxes) or len(boxes) != 1:
        return ()
    return tuple(int(part[0]) for part in (boxes.out, boxes.n_out, boxes.src, boxes.n_src, boxes.diagonal))


def _plain(boxes: Boxes, edges: int) -> Boxes:
    """Return single pairs if hardly any are adjacent: then all lengths are 1, and need no column."""
    if not edges or len(boxes) < FEW_JOINED * edges:
        return boxes
    return cells(boxes.out, boxes.src) if len(boxes) == edges else cells(*pairs(boxes))


def encode(boxes: Boxes | Parts | Spool) -> tuple[BoxFile, ...]:
    """Return the files of a tensor sorted by `out` (docs/format.md, "Which files"); `Parts` must be `local`."""
    per = to_a_block(len(boxes))
    by_out = BoxFile(boxes, "out")
    if isinstance(boxes, Parts):
        return (by_out,)
    if isinstance(boxes, Spool):
        return (by_out,) if local(boxes) else (by_out, BoxFile(spooled_cover(boxes), "src", "guide", per))
    files = chosen(boxes, by_out)
    if files == "one":
        return (by_out,)
    if files == "guide":
        return by_out, BoxFile(transpose(_cover(boxes, "src")), "src", "guide", per)
    turned = transpose(sort(transpose(boxes)))
    if files == "turned":
        return BoxFile(_cover(turned, "out"), "out", "guide", per), BoxFile(turned, "src")
    return by_out, BoxFile(turned, "src")


def _cover(boxes: Boxes, lead: Lead) -> Boxes:
    """Return the boxes of a guide: the blocks of pages that contain each row of an axis, which becomes `out`."""
    per = encoding.PAGE_ROWS * to_a_block(len(boxes))
    block = np.repeat(np.arange(-(-len(boxes) // per)), per)[: len(boxes)]
    return cover(block, getattr(boxes, lead), getattr(boxes, f"n_{lead}"))


class _Hashed:
    """A file that counts and hashes what is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.sha256 = file, 0, hashlib.sha256()

    def write(self, data: bytes, /) -> None:
        self._file.write(data)
        self.sha256.update(data)
        self.size += len(data)
