"""What a writer notes beside its taps, so that a step whose process ended can be published after all."""

from __future__ import annotations

from dataclasses import dataclass

from provspark.index_store import manifest as manifests
from provspark.index_store.model import FORMAT_VERSION, StepKey, StoredFile, Write
from provspark.index_store.processes import Process

__all__ = ["Note", "dump_note", "load_note"]


@dataclass(frozen=True, slots=True)
class Note:
    """A step under way: what it is, since when (UTC, ISO 8601), and the writes sealed so far with their files.

    `process` is its writer's; None in notes of older versions. `reads` are what the driver read until then.
    """

    key: StepKey
    begun: str
    writes: tuple[Write, ...] = ()
    files: tuple[StoredFile, ...] = ()
    process: Process | None = None
    reads: tuple[Write, ...] = ()


def dump_note(note: Note) -> bytes:
    """Write a note, as a manifest is written."""
    return manifests.seal(FORMAT_VERSION, note)


def load_note(data: bytes, where: str) -> Note:
    """Read a note.

    Raises
    ------
    StoreFormatError, CorruptIndexError
        As of a manifest.
    """
    return manifests.from_json(Note, manifests.unseal(data, where)[1], where)
