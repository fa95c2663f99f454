"""Notes that a writer keeps beside its taps; a step whose process was killed is published from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from provspark.index_store.store import manifest as manifests
from provspark.index_store.store.processes import Process
from provspark.model.steps import FORMAT_VERSION, Setting, StepKey, Task
from provspark.model.writes import StoredFile, Write

__all__ = ["Note", "NoteTexts", "load_note"]


@dataclass(frozen=True, slots=True)
class Note:
    """A step in progress: its key, its start (UTC, ISO 8601), and the writes sealed so far with their files.

    `process` is the writer's process; None in notes of older versions. `reads` are the driver's reads so far;
    `driver_reads`, `dag` and `run_started` are as in `Manifest`.
    """

    key: StepKey
    begun: str
    writes: tuple[Write, ...] = ()
    files: tuple[StoredFile, ...] = ()
    process: Process | None = None
    reads: tuple[Write, ...] = ()
    driver_reads: Setting = ""
    dag: tuple[Task, ...] = ()
    run_started: str = ""
    format_version: int = FORMAT_VERSION


class NoteTexts:
    """Serializer of a step's successive notes; parts that an earlier note had are not serialized again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}
        """Serialized parts by id, with their texts. A part is kept so that its id stays unique."""

    def dump(self, note: Note) -> bytes:
        """Serialize a note in the form of a manifest."""
        parts = {f.name: getattr(note, f.name) for f in fields(note)}
        body = ",".join(f'"{name}":{self._text(parts[name])}' for name in sorted(parts))
        return manifests.sealed(note.format_version, f"{{{body}}}")

    def _text(self, value: Any) -> str:
        if not isinstance(value, tuple):
            return manifests.canonical(value)
        texts = []
        for part in value:
            if id(part) not in self._known:
                self._known[id(part)] = part, manifests.canonical(part)
            texts.append(self._known[id(part)][1])
        return f"[{','.join(texts)}]"


def load_note(data: bytes, where: str) -> Note:
    """Parse a note.

    Raises
    ------
    StoreFormatError, CorruptIndexError
        The same as for a manifest.
    """
    format_version, body = manifests.unseal(data, where)
    return manifests.from_json(Note, {"format_version": format_version} | body, where)
