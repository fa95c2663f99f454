"""The store: a folder of steps, each of which appears with all its files or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, Literal

import pyarrow as pa

from provspark.index_store.profiles.profile import Profiles
from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.broken_steps import Broken, broken_step, salvaged_key
from provspark.index_store.store.file_lists import load_files
from provspark.index_store.store.fs.folder import Folder, Stamp, checked
from provspark.index_store.store.fs.opening import open_folder
from provspark.index_store.store.paths import FOLDERS, FORMAT, MANIFEST, NOTES, STEPS, manifest_path, missing, step_path
from provspark.index_store.store.reopening import ReopenedStore
from provspark.index_store.store.survey import Survey
from provspark.index_store.store.tensors.file import TensorFile
from provspark.index_store.store.tensors.reader import TensorReader
from provspark.index_store.store.writer import StepWriter
from provspark.model.bounded_cache import Cache
from provspark.model.datasets import Files, Version
from provspark.model.errors import (
    CorruptIndexError,
    InvalidWriteError,
    ProvSparkError,
    StepExistsError,
    StepRemovedError,
    StoreFormatError,
    StoreMissingError,
    StoreUnreachableError,
    UnknownStepError,
)
from provspark.model.operations import Operations
from provspark.model.steps import Manifest, Setting, StepKey, Task
from provspark.model.writes import StoredFile, Tensor, Write

__all__ = ["Store"]

_THREADS = 16
_PAGE_BYTES = 64 << 20
_OPEN_FILES = 512
_FILE_ROWS = 2_000_000
_OPERATION_BYTES = 16 << 20


class Store:
    """An open tensor store.

    Threads may share it. It caches what it reads, within bounds, and reads a manifest again only if its size or time
    changed.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.url = folder.url
        self._known: dict[str, tuple[Stamp, Manifest]] = {}
        self._broken: dict[str, tuple[Stamp, Broken]] = {}
        self._lock = Lock()
        self._pages: Cache[tuple[bytes, ...]] = Cache(_PAGE_BYTES)
        self._opened: Cache[TensorFile] = Cache(_OPEN_FILES)
        self._files: Cache[Files] = Cache(_FILE_ROWS)
        self._operations: Cache[Operations] = Cache(_OPERATION_BYTES)

    def __reduce__(self) -> tuple[Any, ...]:
        return ReopenedStore, (Store.open, self.url)

    @classmethod
    def open(cls, url: str, *, create: bool = False) -> Store:
        """Open a store.

        Parameters
        ----------
        url : str
            Path of a folder, a ``file:`` URL, or a URL that `pyarrow.fs.FileSystem.from_uri` accepts.
        create : bool
            Create the store if there is none.

        Raises
        ------
        StoreUnreachableError
            The folder can't be reached.
        StoreAccessError
            Access to the folder is denied.
        StoreMissingError
            The folder does not exist or is not a store.
        StoreReadOnlyError
            No store exists and none can be created.
        StoreFormatError
            The store's format is newer than this version of the package can read.
        CorruptIndexError
            Its format.json is damaged.
        """
        return cls.at(open_folder(url), create=create)

    @classmethod
    def at(cls, folder: Folder, *, create: bool = False) -> Store:
        """Open a store in a folder of any file system, as `open` does."""
        try:
            data = folder.read(FORMAT)[0]
        except FileNotFoundError:
            if not create:
                there = "it has no format.json" if folder.exists() else "there is no such folder"
                raise StoreMissingError(
                    f"{folder.url} is not a store: {there}. Check the path. The first captured step creates a store.",
                    empty=folder.vacant(),
                ) from None
            folder.make(STEPS)
            folder.put_if_absent(FORMAT, manifests.dump_format())
            data = folder.read(FORMAT)[0]
        manifests.load_format(data, folder.where(FORMAT))
        return cls(folder)

    def steps(self) -> list[str]:
        """Return the ids of the published steps, sorted."""
        return [n for n, _ in self._stamped()]

    def _stamped(self) -> list[tuple[str, Stamp]]:
        names = [n for n in self.folder.names(STEPS) if _is_name(n)]
        stamps = self.folder.stamps([manifest_path(n) for n in names])
        return [(n, stamp) for n, stamp in zip(names, stamps, strict=True) if stamp is not None]

    def manifest(self, step: str) -> Manifest:
        """Return the manifest of a step.

        Raises
        ------
        UnknownStepError
            No step with this id is published.
        CorruptIndexError, StoreFormatError
            Its manifest is damaged, or newer than this version of the package can read.
        """
        try:
            stamp = self.folder.stamps([manifest_path(step)])[0] if "/" not in step else None
        except InvalidWriteError:
            stamp = None
        if stamp is None:
            raise UnknownStepError(step, self.steps())
        manifest = self._read_manifest(step, stamp)
        if manifest is None:
            raise UnknownStepError(step, self.steps())
        return manifest

    def manifests(self) -> list[Manifest]:
        """Return the manifests of all published steps by the time they ended; read only new and changed ones.

        Raises
        ------
        CorruptIndexError, StoreFormatError, StoreUnreachableError
            A manifest can't be read; `survey` skips such manifests.
        """
        readable = (self._read_manifest(n, stamp) for n, stamp in self._published())
        return _in_order(m for m in readable if m is not None)

    def survey(self) -> Survey:
        """Return the manifests as `manifests` does, and the steps whose manifest can't be read.

        Raises
        ------
        StoreUnreachableError
            The store as a whole can't be reached, or is gone.
        """
        there = self._published()
        if not there:
            self.check()
        answers = True
        readable: list[Manifest] = []
        broken: list[Broken] = []
        for step, stamp in there:
            try:
                manifest = self._read_manifest(step, stamp)
            except (CorruptIndexError, StoreFormatError, StoreUnreachableError) as e:
                if isinstance(e, StoreUnreachableError) and answers:
                    self.check()  # raises if the whole store fails
                    answers = False
                broken.append(self._describe(step, stamp, e))
            else:
                readable += [] if manifest is None else [manifest]
        return Survey(_in_order(readable), broken)

    def check(self) -> None:
        """Check that the store is still there.

        Raises
        ------
        StoreMissingError
            The store does not exist any more.
        StoreUnreachableError
            The store can't be reached.
        """
        try:
            self.folder.read(FORMAT)
        except FileNotFoundError:
            raise StoreMissingError(
                f"The store at {self.url} is gone: its format.json does not exist any more. Restore the store from a "
                f"backup. The next captured step creates a new, empty one."
            ) from None

    def files(self, step: str, version: Version) -> Files:
        """Return the files of a version.

        Raises
        ------
        CorruptIndexError
            The file list is damaged.
        StepRemovedError
            The step was removed meanwhile.
        """
        stored = self._stored(step, version.files)
        files = self._files.get(stored.sha256)
        if files is not None:
            return files
        data, where = self._read_whole(step, stored)
        try:
            files = load_files(data)
        except (pa.ArrowException, OSError, ValueError, LookupError) as e:
            raise CorruptIndexError(where, f"it is not a file list: {str(e)[:200]}") from e
        self._files.put(stored.sha256, files, 1 + len(files.paths))
        return files

    def written_files(self, step: str) -> set[tuple[str, int, int]]:
        """Return name, size (bytes) and time (ms) of each file that a step wrote, even if its manifest can't be read.

        Damaged file lists are skipped.
        """
        written_files: set[tuple[str, int, int]] = set()
        for name in self.folder.names(f"{step_path(step)}/versions"):
            try:
                (data,) = self.folder.read(f"{step_path(step)}/versions/{name}")
                files = load_files(data)
            except (pa.ArrowException, OSError, ValueError, LookupError):
                continue
            each = zip(files.paths, files.sizes.tolist(), files.mtimes.tolist(), files.written.tolist(), strict=True)
            written_files |= {(path.rsplit("/", 1)[-1], size, mtime) for path, size, mtime, written in each if written}
        return written_files

    def operations(self, step: str, write: Write) -> Operations | None:
        """Return the operations of a write; None if the step stored none.

        Raises
        ------
        CorruptIndexError, StoreFormatError
            The file is damaged, or newer than this version of the package can read.
        StepRemovedError
            The step was removed meanwhile.
        """
        if not write.operations:
            return None
        stored = self._stored(step, write.operations)
        operations = self._operations.get(stored.sha256)
        if operations is None:
            data, where = self._read_whole(step, stored)
            operations = manifests.from_json(Operations, manifests.unseal(data, where)[1], where)
            self._operations.put(stored.sha256, operations, len(data))
        return operations

    def profiles(self, step: str, write: Write) -> Profiles | None:
        """Return the profiles of a write's output and inputs; None if the step stored none.

        The errors are those of `operations`.
        """
        if not write.profiles:
            return None
        data, where = self._read_whole(step, self._stored(step, write.profiles))
        return manifests.from_json(Profiles, manifests.unseal(data, where)[1], where)

    def tensor(self, step: str, tensor: Tensor, order: Literal["out", "src"]) -> TensorReader:
        """Open a tensor for lookups by one of its axes.

        Raises
        ------
        CorruptIndexError, StoreFormatError
            One of its files is damaged, or newer than this version of the package can read.
        StepRemovedError
            The step was removed meanwhile; `TensorReader.lookup` may raise it too.
        """
        primary, other = tensor.by_out, tensor.by_src
        if order == "src" and tensor.by_src:
            primary, other = other, primary
        file = self.tensor_file(step, primary)
        if file.layout.holds == "boxes":
            return TensorReader(file, order)
        if not other:
            raise CorruptIndexError(
                file.where, "it is a guide (an index) to the pages of another file, which the manifest does not list"
            )
        return TensorReader(self.tensor_file(step, other), order, file)

    def tensor_file(self, step: str, path: str) -> TensorFile:
        """Open a file of a tensor and verify its footer; the same errors as `tensor`."""
        stored = self._stored(step, path)
        key = (step, path, stored.footer_sha256)
        file = self._opened.get(key)
        if file is None:
            file = TensorFile(self.folder, step, stored, self._pages)
            self._opened.put(key, file)
        return file

    def writer(
        self, key: StepKey, *, driver_reads: Setting = "", dag: Iterable[Task] = (), run_started: str = ""
    ) -> StepWriter:
        """Begin a step.

        Parameters
        ----------
        key : StepKey
        driver_reads : {"", "on", "off"}
        dag : iterable of Task
        run_started : str
            As in `Manifest`. They are published even if the step's process is killed.

        Raises
        ------
        StepExistsError
            The step is already published.
        StoreReadOnlyError, StoreWriteError
            The store can't be written to.
        """
        if self.folder.stamps([manifest_path(key.id)])[0] is not None:
            raise StepExistsError(f"Step {key.id} is already published in {self.url}. Start a new run or a new try.")
        return StepWriter(self.folder, step_path(key.id), MANIFEST, key, driver_reads, tuple(dag), run_started)

    def remove(self, step: str) -> None:
        """Remove a step: its manifest, so that readers no longer see it, then the files that it lists.

        Files that another writer of the step is adding stay. Do nothing if the step does not exist.

        Raises
        ------
        CorruptIndexError
            Its manifest is damaged, so which files it lists is unknown: run `repair` first.
        StoreReadOnlyError, StoreWriteError
        """
        base = step_path(step)
        try:
            files = self.manifest(step).files
        except UnknownStepError:
            return
        self.folder.remove_tree(f"{base}/{NOTES}")  # first, because `repair` publishes from these notes
        self.folder.remove(manifest_path(step))
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(lambda f: self.folder.remove(f"{base}/{f.path}"), files))
        for name in FOLDERS:
            self.folder.remove_empty(f"{base}/{name}")
        self.folder.remove_empty(base)

    def _read_whole(self, step: str, stored: StoredFile) -> tuple[bytes, str]:
        """Read and verify a file of a step; return it, and its location for errors."""
        path = f"{step_path(step)}/{stored.path}"
        where = self.folder.where(path)
        try:
            data = self.folder.read(path)[0]
        except FileNotFoundError:
            raise missing(self.folder, step, path) from None
        if hashlib.sha256(data).hexdigest() != stored.sha256:
            raise CorruptIndexError(where, "its checksum differs")
        return data, where

    def _published(self) -> list[tuple[str, Stamp]]:
        """Return the steps that have a manifest, with its stamp; read new and changed ones ahead if that pays."""
        there = self._stamped()
        fresh = [(n, stamp) for n, stamp in there if self._known.get(n, (None,))[0] != stamp]
        if len(fresh) > 8 and self.folder.readers > 1:
            with ThreadPoolExecutor(self.folder.readers) as pool:
                list(pool.map(lambda s: self._read_ahead(*s), fresh))
        with self._lock:
            for gone in {*self._known, *self._broken} - {n for n, _ in there}:
                self._known.pop(gone, None)
                self._broken.pop(gone, None)
        return there

    def _read_ahead(self, step: str, stamp: Stamp) -> None:
        with suppress(CorruptIndexError, StoreFormatError, StoreUnreachableError):
            self._read_manifest(step, stamp)

    def _describe(self, step: str, stamp: Stamp, error: ProvSparkError) -> Broken:
        """Describe a step that can't be read. Its key is the one read before, or that the file still contains."""
        seen = self._broken.get(step)
        if seen is not None and seen[0] == stamp and not isinstance(error, StoreUnreachableError):
            return seen[1]
        known = self._known.get(step)
        key = known[1].key if known else seen[1].key if seen else None
        if key is None:
            with suppress(FileNotFoundError, StoreUnreachableError, CorruptIndexError):
                key = salvaged_key(self.folder.read(manifest_path(step))[0], step)
        described = broken_step(self.url.split("?", 1)[0], step, error, key)
        with self._lock:
            self._broken[step] = (stamp, described)
        return described

    def _read_manifest(self, step: str, stamp: Stamp) -> Manifest | None:
        known = self._known.get(step)
        if known is not None and known[0] == stamp:
            return known[1]
        path = manifest_path(step)
        try:
            data = self.folder.read(path)[0]
        except FileNotFoundError:
            return None
        manifest = manifests.load(data, self.folder.where(path))
        if manifest.step != step:
            raise CorruptIndexError(self.folder.where(path), "it is the manifest of another step")
        with self._lock:
            self._known[step] = (stamp, manifest)
        return manifest

    def _stored(self, step: str, path: str) -> StoredFile:
        """Return the manifest's entry for a file; read the manifest again only if it does not list the file."""
        known = self._known.get(step)
        stored = _listed(known[1], path) if known else None
        if stored is None:
            try:
                stored = _listed(self.manifest(step), path)
            except UnknownStepError:
                raise StepRemovedError(step, self.url) from None
        if stored is None:
            raise CorruptIndexError(self.folder.where(manifest_path(step)), f"it does not list {path}")
        return stored


def _in_order(manifests: Iterable[Manifest]) -> list[Manifest]:
    return sorted(manifests, key=lambda m: (m.ended, m.step))


def _listed(manifest: Manifest, path: str) -> StoredFile | None:
    return next((f for f in manifest.files if f.path == path), None)


def _is_name(folder: str) -> bool:
    """Return whether a folder may be a step's; a writer creates no others."""
    try:
        folder.encode()
        checked(folder)
    except (UnicodeEncodeError, InvalidWriteError):
        return False
    return True
