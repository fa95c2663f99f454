"""Files that killed or losing writers left in a store; readers ignore them."""

from __future__ import annotations

import time
from collections.abc import Iterable

from provspark.index_store.store.notes import Note, load_note
from provspark.index_store.store.paths import MANIFEST, NOTES, STEPS, manifest_path, step_path
from provspark.index_store.store.store import Store
from provspark.model.errors import CorruptIndexError, StoreFormatError

__all__ = ["begun", "notes_of", "sweep", "unpublished"]


def begun(store: Store, steps: Iterable[str] | None = None) -> list[str]:
    """Return the steps that were begun and are not published: their writers are running, or were killed.

    With `steps`, return those of them that are not published; whether they were begun, their notes say.
    """
    names = store.folder.names(STEPS) if steps is None else list(steps)
    stamps = store.folder.stamps([manifest_path(n) for n in names])
    return [n for n, stamp in zip(names, stamps, strict=True) if stamp is None]


def unpublished(store: Store, idle: float) -> list[str]:
    """Return the steps that were begun, are not published, and whose writers have ended.

    This is known of processes on this machine. Other writers count as ended if no file changed for `idle` seconds.
    """
    return [n for n in begun(store) if _gone(store, n) or _still(store, n, store.folder.walk(step_path(n)), idle)]


def _gone(store: Store, step: str) -> bool:
    notes = notes_of(store, step)
    return bool(notes) and all(note.process is not None and note.process.dead for note in notes)


def notes_of(store: Store, step: str) -> list[Note]:
    """Return the notes of a step's writers, the furthest one first; skip notes that can't be read."""
    notes = []
    for name in store.folder.names(f"{step_path(step)}/{NOTES}"):
        path = f"{step_path(step)}/{NOTES}/{name}"
        if name.endswith(".json"):
            try:
                note = load_note(store.folder.read(path)[0], path)
            except (FileNotFoundError, CorruptIndexError, StoreFormatError):
                continue
            if note.key.id == step:
                notes.append(note)
    return sorted(notes, key=lambda note: (-len(note.writes) - len(note.reads), note.begun))


def sweep(store: Store, idle: float, *, dry_run: bool = False) -> list[str]:
    """Remove files that no manifest lists and that did not change for `idle` seconds.

    Files of unpublished steps that have a note stay: `repair` publishes those steps.

    Returns
    -------
    list of str
        Paths of the files within the store.

    Raises
    ------
    CorruptIndexError
        A manifest can't be read, so which files it lists is unknown.
    StoreReadOnlyError, StoreWriteError
    """
    removed = []
    published = set(store.steps())
    for step in store.folder.names(STEPS):
        listed = {MANIFEST}
        if step in published:
            listed |= {f.path for f in store.manifest(step).files}
        elif notes_of(store, step):
            continue
        for path in store.folder.walk(step_path(step)):
            if path not in listed and _still(store, step, [path], idle):
                removed.append(f"{step_path(step)}/{path}")
                if not dry_run:
                    store.folder.remove(removed[-1])
        if not dry_run:
            for name in (f"/{NOTES}", "/tensors", "/versions", ""):
                store.folder.remove_empty(step_path(step) + name)
    return removed


def _still(store: Store, step: str, files: list[str], idle: float) -> bool:
    before = (time.time() - idle) * 1e9
    stamps = store.folder.stamps([f"{step_path(step)}/{path}" for path in files])
    return all(stamp is not None and stamp.mtime <= before for stamp in stamps)
