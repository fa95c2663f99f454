"""File lists of versions: read from the stores, stored in the catalogue as digests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from provspark.index_store.catalogue.records import StepRef, VersionRole
from provspark.index_store.catalogue.schema import DIGEST_BYTES
from provspark.index_store.store.store import Store
from provspark.model.datasets import Dataset, Files

FileSource = Callable[[StepRef, str, VersionRole], Files]
"""Takes a step, a version id and its role; raises OSError, LookupError or ValueError if it can't read the list."""


class StoreFiles:
    """Reader of file lists in the stores. Threads may share it."""

    def __init__(self) -> None:
        self._opened: dict[str, Store] = {}

    def __call__(self, ref: StepRef, version: str, role: VersionRole) -> Files:
        """Read the file list of a version that a step wrote or read.

        Raises
        ------
        ProvSparkError
            The store, the step or the file list can't be read.
        LookupError
            The step has no such version.
        """
        store = self._opened.get(ref.store) or Store.open(ref.store)
        self._opened[ref.store] = store
        manifest = store.manifest(ref.step)
        for write in manifest.writes if role == "output" else (*manifest.writes, *manifest.reads):
            for known in (write.output,) if role == "output" else write.inputs:
                if known.id == version:
                    return store.files(ref.step, known)
        raise LookupError(f"step {ref.step} has no {role} of version {version}")


@dataclass(frozen=True, slots=True)
class FileDigests:
    """Digests of a version's files: of all, and of those that the step's write created."""

    all: tuple[bytes, ...]
    written: tuple[bytes, ...]


def digests(dataset: Dataset, files: Files) -> FileDigests:
    """Return a digest of each file's full path, size and time; they are equal for datasets in nested folders."""
    root = f"{dataset.namespace}\0{dataset.name.rstrip('/')}"
    named = []
    for path, size, mtime, written in zip(
        files.paths, files.sizes.tolist(), files.mtimes.tolist(), files.written.tolist(), strict=True
    ):
        full = f"{root}/{path}" if path else root
        text = f"{full}\0{size}\0{mtime}".encode(errors="surrogateescape")
        named.append((hashlib.sha256(text).digest()[:DIGEST_BYTES], written))
    named.sort()
    return FileDigests(tuple(d for d, _ in named), tuple(d for d, w in named if w))
