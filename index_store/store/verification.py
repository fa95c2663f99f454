"""Check of a whole store: the hash of every file, and the consistency of their contents."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from provspark.index_store.store.broken_steps import reason
from provspark.index_store.store.manifest import load_format
from provspark.index_store.store.paths import FORMAT, manifest_path, step_path
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors.verification import check_tensor
from provspark.model.datasets import Version
from provspark.model.errors import CorruptIndexError, ProvSparkError, StoreFormatError, StoreUnreachableError
from provspark.model.steps import Manifest
from provspark.model.writes import StoredFile, Write

__all__ = ["Problem", "check_file", "verify", "verify_step"]

_CHUNK = 16 << 20


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a store: the step ("" for the store itself), the file within the store, and a description.

    `write` or `read` is the number of the write, or of the read on the driver, that is inconsistent; both are -1 if the
    file itself is damaged.
    """

    step: str
    path: str
    what: str
    write: int = -1
    read: int = -1

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def verify(
    store: Store, steps: Iterable[str] | None = None, checking: Callable[[str, int, int], None] = lambda *_: None
) -> list[Problem]:
    """Read all of a store, or some of its steps, and return what is damaged or inconsistent.

    It checks hashes of whole files; versions' rows against their file lists; axes against versions; every tensor's
    boxes against its axes, its counts, and its other file. Folders of unpublished steps, and files that no manifest
    lists, are not problems. `checking` is called before each step with its id, its number from 0, and the number of
    steps.

    Raises
    ------
    StoreUnreachableError
        The store can't be reached; a missing file is a problem, not an error.
    """
    problems: list[Problem] = []
    if steps is None:
        try:
            load_format(store.folder.read(FORMAT)[0], FORMAT)
        except (CorruptIndexError, StoreFormatError, FileNotFoundError) as e:
            problems.append(Problem("", FORMAT, _said(e)))
        steps = store.steps()
    steps = list(steps)
    for number, step in enumerate(steps):
        checking(step, number, len(steps))
        problems += verify_step(store, step)
    return problems


def verify_step(store: Store, step: str) -> list[Problem]:
    """Verify one step."""
    path = step_path(step)
    try:
        manifest = store.manifest(step)
    except (CorruptIndexError, StoreFormatError) as e:
        return [Problem(step, manifest_path(step), _said(e))]
    except StoreUnreachableError as e:
        store.check()
        return [Problem(step, manifest_path(step), f"it can't be read: {reason(e)}")]
    damaged = {}
    for stored in manifest.files:
        what = check_file(store, f"{path}/{stored.path}", stored)
        if what:
            damaged[stored.path] = what
    problems = [Problem(step, f"{path}/{name}", what) for name, what in damaged.items()]
    for write in manifest.writes:
        said = _verify_write(store, manifest, write, f"write {write.index}", set(damaged))
        problems += [Problem(step, file, what, write=write.index) for file, what in said]
    for read in manifest.reads:
        said = _verify_write(store, manifest, read, f"read {read.index}", set(damaged))
        problems += [Problem(step, file, what, read=read.index) for file, what in said]
    return problems


def check_file(store: Store, path: str, stored: StoredFile) -> str:
    """Return how a file differs from the manifest; "" if it does not."""
    digest, size = hashlib.sha256(), 0
    try:
        while True:
            part = store.folder.read(path, [(size, size + _CHUNK)])[0]
            digest.update(part)
            size += len(part)
            if len(part) < _CHUNK:
                break
    except FileNotFoundError:
        return "the file is missing"
    except CorruptIndexError as e:
        return e.what
    except StoreUnreachableError as e:
        store.check()
        return f"it can't be read: {reason(e)}"
    if size != stored.size:
        return f"it has {size} bytes instead of {stored.size}"
    return "" if digest.hexdigest() == stored.sha256 else "its SHA-256 does not match"


def _verify_write(
    store: Store, manifest: Manifest, write: Write, name: str, damaged: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield the inconsistent files of a write or read, and what is wrong."""
    step, base = manifest.step, step_path(manifest.step)
    for version in dict.fromkeys((write.output, *write.inputs)):
        if version.files not in damaged:
            yield from ((f"{base}/{version.files}", what) for what in _check_version(store, step, version))
    rows = {v.id: v.rows for v in (write.output, *write.inputs)}
    for i, axis in enumerate(write.axes):
        if axis.version and axis.size != rows[axis.version]:
            what = f"{name}: axis {i} has size {axis.size}, but its version has {rows[axis.version]} rows"
            yield manifest_path(step), what
    for i, tensor in enumerate(write.tensors):
        if tensor.by_out in damaged or tensor.by_src in damaged:
            continue
        try:
            said = check_tensor(store, step, tensor, write.axes)
        except (CorruptIndexError, StoreFormatError) as e:
            said = [_said(e)]
        yield from ((f"{base}/{tensor.by_out}", f"{name}, tensor {i}: {what}") for what in said)


def _check_version(store: Store, step: str, version: Version) -> list[str]:
    try:
        files = store.files(step, version)
    except CorruptIndexError as e:
        return [_said(e)]
    said = []
    if files.total != version.rows or len(files.paths) != version.n_files:
        said.append(
            f"it lists {len(files.paths)} files of {files.total} rows; "
            f"the manifest says {version.n_files} of {version.rows}"
        )
    if files.identity(version.dataset) != version.id:
        said.append(f"its files are not those of version {version.id}")
    return said


def _said(error: ProvSparkError | FileNotFoundError) -> str:
    return "the file is missing" if isinstance(error, FileNotFoundError) else str(error)
