"""Repair of a store: restores what it can, and marks the rest so that answers give the reason where they end."""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Literal

from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.file_lists import dump_files
from provspark.index_store.store.leftovers import notes_of, unpublished
from provspark.index_store.store.paths import manifest_path, step_path
from provspark.index_store.store.store import Store
from provspark.index_store.store.tensors.encoding import BoxFile
from provspark.index_store.store.tensors.layout import Lead
from provspark.index_store.store.verification import check_file, verify_step
from provspark.index_store.store.writer import encode
from provspark.model.boxes.pairs import sort
from provspark.model.datasets import Version
from provspark.model.driver_datasets import driver_version
from provspark.model.errors import CorruptIndexError, StoreFormatError
from provspark.model.steps import TENSOR_FORMAT, Manifest, StepKey
from provspark.model.times import utc
from provspark.model.writes import StoredFile, Tensor, Untracked, Write

__all__ = ["Repair", "repair"]

RepairAction = Literal["restored", "untracked", "dropped", "sealed", "closed", "removed"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One action of a repair.

    Parameters
    ----------
    step : str
    action : {"restored", "untracked", "dropped", "sealed", "closed", "removed"}
        What was done. A file was restored from other files of the store; a write, or a read on the driver, was marked
        untracked because its lineage is lost; a reference to a write's lost operations or profiles was dropped; a step
        was published (sealed) from its writer's notes after its process ended; a step whose manifest is lost was closed
        as failed and untracked, or removed from the store if the manifest does not even contain its key.
    what : str
        The file, or the write, and the reason.
    """

    step: str
    action: RepairAction
    what: str

    def __str__(self) -> str:
        return f"{self.step}: {self.action}: {self.what}"


def repair(
    store: Store,
    steps: Iterable[str] | None = None,
    *,
    idle: float = 86_400,
    dry_run: bool = False,
    checking: Callable[[str, int, int], None] = lambda *_: None,
) -> list[Repair]:
    """Check steps as `verify` does, and repair what is damaged.

    A damaged tensor file is rewritten from the tensor's other file if that contains all boxes, a damaged file list from
    an equal one of another step. Writes and reads whose lineage is lost are marked untracked, with the reason; a read
    keeps its place and its rows, which axes of later writes number. A step that was begun and not published is
    published as failed, with the writes and reads that were sealed before its process ended.

    Parameters
    ----------
    store : Store
    steps : iterable of str, optional
        Only these, published or not, whatever their age and whether or not their writers have ended. All by default.
    idle : float
        An unpublished step counts as abandoned if its writer's process on this machine has ended, or if none of its
        files changed for this many seconds. A writer that still runs raises an error when it finds its step published.
    dry_run : bool
        Report the actions without changing anything.
    checking : callable
        As for `verify`.

    Raises
    ------
    StoreFormatError
        A file has a newer format, which is not damage; the steps before it are repaired.
    StoreUnreachableError, StoreReadOnlyError, StoreWriteError
    """
    published = set(store.steps())
    wanted = sorted(published | set(unpublished(store, idle))) if steps is None else list(steps)
    done: list[Repair] = []
    for number, step in enumerate(wanted):
        checking(step, number, len(wanted))
        mending = _Mending(store, step, dry_run)
        done += mending.published() if step in published else mending.given_up()
    return done


class _Mending:
    """The repair of one step."""

    def __init__(self, store: Store, step: str, dry_run: bool) -> None:
        self._store, self._step, self._dry_run = store, step, dry_run
        self._mark = uuid.uuid4().hex[:12]
        self._made: dict[str, StoredFile] = {}
        self._done: list[Repair] = []

    def given_up(self) -> list[Repair]:
        """Publish a step from its writer's notes, then repair it like any other."""
        notes = notes_of(self._store, self._step)
        if not notes:
            return []
        note, base = notes[0], step_path(self._step)
        stamps = self._store.folder.stamps([f"{base}/{path}" for path in self._store.folder.walk(base)])
        last = max((s.mtime for s in stamps if s is not None), default=0) / 1e9
        ended = datetime.fromtimestamp(last, timezone.utc).isoformat(timespec="microseconds")
        why = "its process ended before it published the step; what it wrote beyond these writes is not known"
        manifest = _failed(note.key, note.begun, ended, why)
        manifest = replace(
            manifest,
            writes=note.writes,
            files=tuple(sorted(note.files, key=lambda f: f.path)),
            reads=note.reads,
            driver_reads=note.driver_reads,
            dag=note.dag,
            run_started=note.run_started,
            format_version=_kept(note.format_version),
        )
        reads = f", reads: {len(note.reads)}" * bool(note.reads)
        self._say("sealed", f"published, sealed writes: {len(note.writes)}{reads}; {why}")
        if not self._dry_run and self._store.folder.put_if_absent(manifest_path(self._step), manifests.dump(manifest)):
            self.published()
        return self._done

    def published(self) -> list[Repair]:
        """Repair a published step."""
        problems = verify_step(self._store, self._step)
        if not problems:
            return self._done
        try:
            manifest = self._store.manifest(self._step)
        except CorruptIndexError as e:
            self._close(str(e))
            return self._done
        at = len(step_path(self._step)) + 1
        damaged = {f.path for f in manifest.files} & {p.path[at:] for p in problems if p.write < 0 and p.read < 0}
        self._refuse_newer(manifest)
        lost = {path for path in sorted(damaged) if not self._copied(manifest, path)}
        changed = self._relisted(manifest, lost)
        writes: list[Write] = []
        reasons = list(manifest.untracked)
        for write in changed.writes:
            mended = self._write(write, lost, [p.what for p in problems if p.write == write.index])
            if mended.reason and write.output.files in lost:  # the version has no file list, so only the reason stays
                reasons.append(mended.reason)
            else:
                writes.append(replace(mended, index=len(writes)))
        reads = [self._write(read, lost, [p.what for p in problems if p.read == read.index]) for read in changed.reads]
        changed = replace(changed, writes=tuple(writes), reads=tuple(reads), untracked=tuple(reasons))
        if changed != manifest:
            changed = replace(changed, files=self._files(changed), format_version=_kept(manifest.format_version))
            self._replace(manifest_path(self._step), manifests.dump(changed))
        return self._done

    def _relisted(self, manifest: Manifest, lost: set[str]) -> Manifest:
        """Rewrite lost file lists of reads; these contain only the number of rows that the driver read."""
        fresh: dict[str, Version] = {}
        for read in manifest.reads:
            old = read.output
            if old.files not in lost:
                continue
            made = driver_version(self._step, read.index, old.dataset.name, old.rows)
            if made.files.identity(made.dataset) != old.id:  # it contained a time that is lost
                made = driver_version(self._step, read.index, old.dataset.name, old.rows, read_at=_now())
            identity = made.files.identity(made.dataset)
            path = f"versions/{identity}-{self._mark}.parquet"
            data = dump_files(made.files)
            self._made[path] = StoredFile(path, len(data), hashlib.sha256(data).hexdigest())
            self._replace(f"{step_path(self._step)}/{path}", data)
            self._say("restored", f"{old.files}, the file list of {old.dataset}")
            fresh[old.id] = replace(old, id=identity, files=path)
        return replace(
            manifest,
            writes=tuple(_with(w, fresh) for w in manifest.writes),
            reads=tuple(_with(r, fresh) for r in manifest.reads),
        )

    def _refuse_newer(self, manifest: Manifest) -> None:
        """Let a tensor file of a newer format raise StoreFormatError: that is not damage."""
        both = (*manifest.writes, *manifest.reads)
        for path in {p for w in both for t in w.tensors for p in (t.by_out, t.by_src) if p}:
            with contextlib.suppress(CorruptIndexError):
                self._store.tensor_file(self._step, path)

    def _write(self, write: Write, lost: set[str], said: list[str]) -> Write:
        """Return a write or read as it can be kept: unchanged, with rewritten tensors, or untracked."""
        said = said + [f"{v.files} is lost" for v in (write.output, *write.inputs) if v.files in lost]
        tensors = []
        for tensor in write.tensors:
            fresh = self._tensor(tensor, lost) if not said else None
            if fresh is None:
                said.append(f"{tensor.by_out} is lost")
                break
            tensors.append(fresh)
        if len(tensors) == len(write.tensors) and not said:
            return self._beside(replace(write, tensors=tuple(tensors)), lost)
        reason = Untracked("repair", f"the lineage of {write.output.dataset} is damaged: {'; '.join(said)}", write.site)
        self._say("untracked", str(reason))
        inputs = tuple(v for v in write.inputs if v.files not in lost)
        return Write(
            write.index,
            write.output,
            "untracked",
            inputs,
            reason=reason,
            site=write.site,
            action=write.action,
            single=write.single,
        )

    def _beside(self, write: Write, lost: set[str]) -> Write:
        """Return an undamaged write without its lost operations and profiles."""
        for path in sorted({write.operations, write.profiles} & lost):
            self._say("dropped", f"{path}, of {write.output.dataset}, is lost; the lineage of its rows is intact")
        return replace(
            write,
            operations="" if write.operations in lost else write.operations,
            profiles="" if write.profiles in lost else write.profiles,
        )

    def _tensor(self, tensor: Tensor, lost: set[str]) -> Tensor | None:
        """Return a tensor with its lost file rewritten from the other one if that contains all boxes; else None."""
        paths = [p for p in (tensor.by_out, tensor.by_src) if p]
        left = [p for p in paths if p not in lost]
        if left == paths:
            return tensor
        if not left or self._store.tensor_file(self._step, left[0]).layout.holds != "boxes":
            return None
        order: Lead = "out" if left[0] == tensor.by_out else "src"
        alone = replace(tensor, by_out=left[0], by_src="")
        boxes = sort(self._store.tensor(self._step, alone, order).all())
        self._say("restored", f"{(set(paths) & lost).pop()}, from {left[0]}")
        stem = tensor.by_out.rsplit("-", 1)[0]
        made = [self._put(f"{stem}-{self._mark}.{f.lead}.parquet", f) for f in encode(boxes)]
        return replace(tensor, by_out=made[0], by_src=made[1] if len(made) > 1 else "")

    def _copied(self, manifest: Manifest, path: str) -> bool:
        """Restore a file from an equal one of another step; return whether there is one."""
        wanted = next(f for f in manifest.files if f.path == path)
        for other in self._store.steps():
            with contextlib.suppress(CorruptIndexError, StoreFormatError, LookupError):
                for twin in self._store.manifest(other).files:
                    full = f"{step_path(other)}/{twin.path}"
                    if other != self._step and twin.sha256 == wanted.sha256 and not check_file(self._store, full, twin):
                        self._say("restored", f"{path}, from {full}")
                        self._replace(f"{step_path(self._step)}/{path}", self._store.folder.read(full)[0])
                        return True
        return False

    def _files(self, manifest: Manifest) -> tuple[StoredFile, ...]:
        """Return the files that the manifest's writes and reads name."""
        known = {f.path: f for f in manifest.files} | self._made
        named = {path for w in (*manifest.writes, *manifest.reads) for path in w.named}
        return tuple(known[path] for path in sorted(named))

    def _close(self, why: str) -> None:
        """Replace a damaged manifest by one without writes; remove it if it does not contain its key any more."""
        path = manifest_path(self._step)
        closed = self._salvaged(path, why)
        if closed is not None:
            self._say("closed", why)
            self._replace(path, manifests.dump(closed))
            return
        self._say("removed", f"its manifest does not name the task any more: {why}")
        if not self._dry_run:
            self._store.folder.remove(path)

    def _salvaged(self, path: str, why: str) -> Manifest | None:
        """Return what a damaged manifest still contains, if its key is this step's: the step's id is a hash of it."""
        try:
            body = json.loads(self._store.folder.read(path)[0])["body"]
            key = manifests.from_json(StepKey, body["key"], path)
            return _failed(key, utc(body["started"]), utc(body["ended"]), why) if key.id == self._step else None
        except (ValueError, LookupError, TypeError, CorruptIndexError):
            return None

    def _put(self, path: str, file: BoxFile) -> str:
        data, footer = file.data()
        self._made[path] = StoredFile(path, len(data), hashlib.sha256(data).hexdigest(), footer)
        self._replace(f"{step_path(self._step)}/{path}", data)
        return path

    def _replace(self, path: str, data: bytes) -> None:
        if not self._dry_run:
            self._store.folder.replace(path, data)

    def _say(self, action: RepairAction, what: str) -> None:
        self._done.append(Repair(self._step, action, what))


def _with(write: Write, fresh: dict[str, Version]) -> Write:
    """Return a write in which some versions, given by their old ids, are replaced."""
    if not fresh:
        return write
    axes = (replace(a, version=fresh[a.version].id) if a.version in fresh else a for a in write.axes)
    return replace(
        write,
        output=fresh.get(write.output.id, write.output),
        inputs=tuple(fresh.get(v.id, v) for v in write.inputs),
        axes=tuple(axes),
    )


def _kept(version: int) -> int:
    """Return the format of a repaired manifest: its own, so that missing keys keep their meaning."""
    return max(version, TENSOR_FORMAT)


def _now() -> int:
    return int(datetime.now(timezone.utc).timestamp() * 1000)


def _failed(key: StepKey, started: str, ended: str, why: str) -> Manifest:
    return Manifest(key.id, key, "failed", started, ended, (), (), untracked=(Untracked("repair", why),))
