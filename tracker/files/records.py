"""Convert the driver's reads and writes of files to the versions, tensors and writes that the store keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from provspark.model.boxes import Boxes
from provspark.model.datasets import Dataset, Field
from provspark.model.pending import PendingTensor, PendingVersion, PendingWrite
from provspark.model.writes import Axis, Coverage, Untracked
from provspark.tracker.files.file import FileRead, FileState, FileWrite
from provspark.tracker.files.versions import KnownFiles, grouped

__all__ = ["FilesRead", "by_call", "by_dataset", "files_read", "files_written"]

_Box = tuple[int, int, int, int, bool]


@dataclass(frozen=True, slots=True)
class FilesRead:
    """The files that one line of the script read, as a read on the driver whose inputs are the files' versions.

    Row k of the read is row k of the concatenated inputs. Capture does not know which rows of a file the script used,
    so it links every row of a read to all rows of the file.
    """

    site: str
    action: str
    inputs: tuple[PendingVersion, ...]
    fields: tuple[Field, ...] = ()
    single: bool = False

    @property
    def rows(self) -> int:
        """Number of rows of all inputs; a file whose rows are not counted adds 1."""
        return sum(version.files.total for version in self.inputs)

    def settle(self, dataset: Dataset, known: Mapping[str, PendingVersion]) -> None:
        """Do nothing: the files' states were recorded when they were opened."""

    def resolve(self, output: PendingVersion, known: Mapping[str, PendingVersion]) -> PendingWrite:
        """Return the read in the store's form; `output` is the version that represents the rows on the driver."""
        axes, tensors, at = [_axis("output", output)], [], 0
        for i, version in enumerate(self.inputs):
            bases, rows = version.files.bases.tolist(), version.files.rows.tolist()
            boxes = [(at + base, n, base, n, False) for base, n in zip(bases, rows, strict=False) if n]
            axes.append(_axis("input", version, i))
            if boxes:
                tensors.append(PendingTensor(0, i + 1, _boxes(boxes)))
            at += version.files.total
        why = "the script opened the files, and capture does not know which of their rows it used"
        reason = Untracked(self.action, why, self.site)
        return PendingWrite(
            output,
            "coarse",
            self.inputs,
            tuple(axes),
            tuple(tensors),
            reason=reason,
            site=self.site,
            action=self.action,
        )


def by_call(reads: Sequence[FileRead]) -> list[list[FileRead]]:
    """Group reads of files by the script's line and the function called: each group is one read of the step."""
    calls: dict[tuple[str, str], list[FileRead]] = {}
    for read in reads:
        calls.setdefault((read.site, read.action), []).append(read)
    return list(calls.values())


def files_read(reads: Sequence[FileRead], known: KnownFiles) -> FilesRead:
    """Merge the files that one call read into a single read of the step."""
    versions: list[PendingVersion] = []
    for name, numbers in grouped((r.file.path, r.root) for r in reads).items():
        split: list[dict[str, FileState]] = []
        for number in numbers:
            _add(split, reads[number].file)
        versions += [known.version(name, list(some.values()), written=False) for some in split]
    return FilesRead(reads[0].site, reads[0].action, tuple(versions))


def _add(versions: list[dict[str, FileState]], state: FileState) -> None:
    """Add a file to the first version that does not contain it in a different state."""
    for version in versions:
        if version.setdefault(state.path, state) == state:
            return
    versions.append({state.path: state})


def by_dataset(writes: Sequence[FileWrite]) -> list[tuple[str, list[FileWrite]]]:
    """Group writes of files by the script's line and the dataset: each group is one write; return it with its path."""
    calls: dict[str, list[FileWrite]] = {}
    for write in writes:
        calls.setdefault(write.site, []).append(write)
    groups = []
    for members in calls.values():
        for name, numbers in grouped((m.file.path, m.root) for m in members).items():
            groups.append((name, [members[i] for i in numbers]))
    return groups


def files_written(name: str, writes: Sequence[FileWrite], reads: int, known: KnownFiles) -> PendingWrite:
    """Merge the files written to one dataset into a single write of the step.

    Parameters
    ----------
    name : str
        The dataset's path.
    writes : sequence of FileWrite
    reads : int
        Number of rows that the step had read before the files were closed, any of which they may contain.
    known : KnownFiles
    """
    for write in writes:
        if not write.computed and len(write.sources) == 1:
            known.copied(write.sources[0], write.file)
    output = known.version(name, [w.file for w in writes], written=True)
    places = _places(output)
    by_state = {(s.path, s.size, s.mtime_ns): s for w in writes for s in w.sources}
    roots = {s: w.source_root for w in writes for s in w.sources}
    versions: dict[FileState, int] = {}
    inputs: list[PendingVersion] = []
    for source, numbers in grouped((s.path, roots[s]) for s in by_state.values()).items():
        states = list(by_state.values())
        split: list[dict[str, FileState]] = []
        for number in numbers:
            _add(split, states[number])
        for some in split:
            inputs.append(known.version(source, list(some.values()), written=False))
            versions.update(dict.fromkeys(some.values(), len(inputs) - 1))
    axes = [_axis("output", output), *(_axis("input", version, i) for i, version in enumerate(inputs))]
    boxes: list[list[_Box]] = [[] for _ in inputs]
    exact = bool(writes)
    for write in writes:
        first, rows = places[write.file.path]
        for state in write.sources:
            start, n = _places(inputs[versions[state]])[state.path]
            same = not write.computed and rows == n
            if rows and n:
                boxes[versions[state]].append((first, rows, start, n, same))
        counted = output.unit == "row" and all(inputs[versions[s]].unit == "row" for s in write.sources)
        exact = exact and (counted if not write.computed else not reads and not write.sources)
    tensors = [PendingTensor(0, i + 1, _boxes(some)) for i, some in enumerate(boxes) if some]
    made = [(*places[w.file.path], 0, reads, False) for w in writes if w.computed and places[w.file.path][1]]
    if made and reads:
        axes.append(Axis("reads", reads))
        tensors.append(PendingTensor(0, len(axes) - 1, _boxes(made)))
    last = writes[-1]
    coverage: Coverage = "exact" if exact else "coarse"
    why = "the script wrote the file, and each of its rows may come from any row that the step had read before"
    if not any(w.computed for w in writes):
        why = "the file was copied, and its number of rows is unknown"
    reason = None if exact else Untracked(last.action, why, last.site)
    return PendingWrite(output, coverage, tuple(inputs), tuple(axes), tuple(tensors), reason=reason, site=last.site)


def _places(version: PendingVersion) -> dict[str, tuple[int, int]]:
    """Return the first row and the number of rows of each file of a version, by its full path."""
    base, files = version.dataset.name.rstrip("/"), version.files
    paths = (f"{base}/{path}" if path else version.dataset.name for path in files.paths)
    return {p: (b, n) for p, b, n in zip(paths, files.bases.tolist(), files.rows.tolist(), strict=False)}


def _axis(role: str, version: PendingVersion, occurrence: int = -1) -> Axis:
    identity = version.files.identity(version.dataset)
    size = version.files.total
    if role == "output":
        return Axis("output", size, identity, label=version.dataset.uri)
    return Axis("input", size, identity, occurrence, version.dataset.uri)


def _boxes(entries: Sequence[_Box]) -> Boxes:
    """Build boxes from (out, n_out, src, n_src, diagonal) tuples, sorted by out."""
    columns = list(zip(*sorted(entries), strict=True))
    ints = [np.array(column, dtype=np.int64) for column in columns[:4]]
    return Boxes(ints[0], ints[1], ints[2], ints[3], np.array(columns[4], dtype=np.bool_))
