"""What a writer notes beside its taps, so that a step whose process ended can be published after all."""

from __future__ import annotations

from dataclasses import dataclass

from provspark.index_store import manifest as manifests
from provspark.index_store.model import FORMAT_VERSION, Setting, StepKey, StoredFile, Task, Write
from provspark.index_store.processes import Process

__all__ = ["Note", "dump_note", "load_note"]


@dataclass(frozen=True, slots=True)
class Note:
    """A step under way: what it is, since when (UTC, ISO 8601), and the writes sealed so far with their files.

    `process` is its writer's; None in notes of older versions. `reads` are what the driver read until then;
    `driver_reads` and `dag` are as in `Manifest`.
    """

    key: StepKey
    begun: str
    writes: tuple[Write, ...] = ()
    files: tuple[StoredFile, ...] = ()
    process: Process | None = None
    reads: tuple[Write, ...] = ()
    driver_reads: Setting = ""
    dag: tuple[Task, ...] = ()
    format_version: int = FORMAT_VERSION


def dump_note(note: Note) -> bytes:
    """Write a note, as a manifest is written."""
    return manifests.seal(note.format_version, note)


def load_note(data: bytes, where: str) -> Note:
    """Read a note.

    Raises
    ------
    StoreFormatError, CorruptIndexError
        As of a manifest.
    """
    found, body = manifests.unseal(data, where)
    return manifests.from_json(Note, {"format_version": found} | body, where)
