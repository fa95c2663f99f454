"""Journal of file operations on the driver, recorded as they happen and evaluated later by `replay`."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from provspark.model.datasets import Dataset
from provspark.model.writes import Untracked
from provspark.tracker.files.file import Stat, look, now_ns
from provspark.tracker.files.frames import Caller, Frames
from provspark.tracker.files.paths import absolute, beside, files_below, is_hidden, real_name
from provspark.tracker.files.processes import spark_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from provspark.tracker.files.exclusions import LeftOut

__all__ = ["MOST", "Copied", "Entry", "FileOpened", "FilePlace", "Journal", "Temporary"]

H = TypeVar("H", bound="Callable[..., None]")

MOST = 100_000
"""Maximum number of entries kept between two calls of `Journal.take`, and of files per folder."""
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A file: its path as the script spells it, its real path, and the folder whose dataset it is part of, or ""."""

    path: str
    real: str
    root: str = ""


@dataclass(frozen=True, slots=True)
class FileOpened:
    """Entry for an opened file. `before` is its state at that time; `fresh` says that its old content is discarded."""

    place: FilePlace
    by: Caller
    at_ns: int
    before: Stat | None
    reads: bool
    writes: bool
    fresh: bool


@dataclass(frozen=True, slots=True)
class Copied:
    """Entry for a copied, moved or linked file. `same` is True if the new name refers to the old inode (not a copy)."""

    source: FilePlace
    place: FilePlace
    by: Caller
    of: Stat
    before: Stat | None
    same: bool


@dataclass(frozen=True, slots=True)
class Temporary:
    """Entry for a new temporary file or folder that is removed automatically."""

    real: str


Entry = FileOpened | Copied | Temporary


class _Copying(NamedTuple):
    """A copy that this thread is about to make: the source as spelled, its real path, and the target's real path."""

    source: str
    real: str
    to: str


def _guarded(handle: H) -> H:
    """Catch errors of a handler, which would otherwise fail the user's call."""

    @wraps(handle)
    def guarded(self: Journal, *args: Any) -> None:
        try:
            handle(self, *args)
        except Exception as e:
            self.failed(e)

    return cast("H", guarded)


class Journal:
    """Records the audit hook's events and the calls of patched libraries.

    Parameters
    ----------
    frames : Frames
    left_out : LeftOut
    """

    def __init__(self, frames: Frames, left_out: LeftOut) -> None:
        self._frames, self._left_out = frames, left_out
        self._entries: deque[Entry] = deque()
        self._read: set[tuple[str, Stat, str]] = set()
        self._last: dict[str, tuple[str, bool]] = {}
        self._copying = threading.local()
        self._lost: dict[Untracked, None] = {}
        self._processes: dict[Untracked, None] = {}
        self.handlers: dict[str, Callable[..., None]] = {
            "open": self._open,
            "os.rename": self._renamed,
            "os.link": self._linked,
            "os.symlink": self._symlinked,
            "os.fork": self._forked,
            "os.forkpty": self._forked,
            "subprocess.Popen": self._started,
            "os.posix_spawn": self._spawned,
            "os.system": self._shell,
            "os.truncate": self._truncated,
            "shutil.copyfile": self._copyfile,
            "shutil.copytree": self._copytree,
            "sqlite3.connect": self._sqlite,
            "tempfile.mkstemp": self._temporary,
            "tempfile.mkdtemp": self._temporary,
        }

    # -- for the reader of the journal

    def take(self) -> list[Entry]:
        """Return the entries recorded so far, in order, and remove them."""
        taken = []
        # One by one: after replacing the deque, an entry that another thread adds to the old one would be lost.
        while self._entries:
            taken.append(self._entries.popleft())
        return taken

    def take_lost(self) -> list[Untracked]:
        """Return, and remove, the reasons why files were not recorded."""
        return _taken(self._lost)

    def take_processes(self) -> list[Untracked]:
        """Return, and remove, the places where the script forked this process or started one that runs Spark."""
        return _taken(self._processes)

    def failed(self, error: Exception) -> None:
        """Record that ProvSpark's own code failed."""
        self.lose(
            Untracked("files", f"a file that the driver opened was not captured: {type(error).__name__}: {error}")
        )

    def lose(self, reason: Untracked) -> None:
        """Record why something is not followed."""
        self._lost.setdefault(reason)

    # -- for patches of libraries

    def by(self, frame: FrameType | None) -> Caller | None:
        """Return the caller behind a call; None if it is not the script."""
        return self._frames.caller(frame)

    def place(self, path: str, root: str = "") -> FilePlace | None:
        """Return a file's paths; None if capture ignores the file."""
        if self._left_out(path):
            return None
        real = os.path.realpath(path)
        return None if real != path and self._left_out(real) else FilePlace(path, real, root)

    def reads(self, path: str, by: Caller, root: str = "") -> None:
        """Record that a file, or all data files below a folder, are read."""
        if not root and os.path.isdir(path):  # noqa: PTH112 - hot
            for each in self._below(path, by):
                self.reads(each, by, path)
            return
        place = self.place(path, root)
        before = None if place is None else look(place.real)
        if place is not None and before is not None:
            self._opened(FileOpened(place, by, now_ns(), before, True, False, False))

    def writes(self, path: str, by: Caller, *, fresh: bool = True) -> None:
        """Record that a file is about to be written."""
        place = self.place(path)
        if place is not None:
            before = look(place.real)
            self._opened(FileOpened(place, by, now_ns(), before, False, True, fresh or before is None))

    def folder_before(self, folder: str) -> dict[str, Stat | None]:
        """Return the state of all data files below a folder."""
        return {path: look(path) for path in files_below(folder, MOST)}

    def wrote_folder(self, folder: str, before: dict[str, Stat | None], by: Caller) -> None:
        """Record the files written to a folder since `folder_before`."""
        for path in self._below(folder, by):
            place = self.place(path, folder)
            if place is not None and look(path) != before.get(path):
                self._opened(FileOpened(place, by, now_ns(), before.get(path), False, True, True))

    def copies(self, source: str, path: str, by: Caller, *, same: bool = False) -> None:
        """Record that a file or a folder is about to be copied or, with `same`, moved or linked."""
        if os.path.isdir(source):  # noqa: PTH112 - hot
            for each in self._below(source, by):
                self._copy(each, path + each[len(source) :], by, source, path, same=same)
        else:
            self._copy(source, path, by, "", "", same=same)

    # -- events

    @_guarded
    def _open(self, path: Any, mode: str | None, flags: int) -> None:
        self._opening(path, flags, "open")

    @_guarded
    def _truncated(self, path: Any, length: int) -> None:
        self._opening(path, os.O_RDWR, "os.truncate")

    def _opening(self, path: Any, flags: int, action: str) -> None:
        if type(path) is not str:
            if not isinstance(path, (bytes, os.PathLike)):
                return
            path = os.fsdecode(path)
        if self._left_out(path):
            return
        by = self._frames.caller(sys._getframe(1))
        place = None if by is None else self.place(absolute(path))
        if by is None or place is None:
            return
        before = look(place.real)
        writes = flags & _ACCESS != os.O_RDONLY
        # The event precedes the call, which fails when it reads a missing file or writes to a folder.
        if before is None and (not writes or os.path.isdir(place.real)):  # noqa: PTH112 - hot
            return
        if self._part_of_copy(place, before, writes, by):
            return
        fresh = before is None or bool(flags & os.O_TRUNC)
        reads = flags & _ACCESS != os.O_WRONLY and not fresh
        log = by.log or (bool(flags & os.O_APPEND) and _names_log(place.path))
        by = Caller(by.site, by.action or action, log)
        self._opened(FileOpened(place, by, now_ns(), before, reads, writes, fresh))

    def _part_of_copy(self, place: FilePlace, before: Stat | None, writes: bool, by: Caller) -> bool:
        """Whether this is one of the two openings that make a copy, which is recorded as a copy instead."""
        # `shutil.copyfile` raises its event first, then opens the source and the target in the same thread.
        copying: _Copying | None = getattr(self._copying, "files", None)
        if copying is None:
            return False
        if not writes and place.real == copying.real:
            return True
        self._copying.files = None
        if not writes or place.real != copying.to:
            return False
        tree: tuple[str, str] = getattr(self._copying, "tree", ("", ""))
        if not (tree[0] and beside(copying.source, tree[0]) and beside(place.path, tree[1])):
            tree = ("", "")
        if tree[0] and is_hidden(copying.source, tree[0]):
            return True
        source, of = self.place(copying.source, tree[0]), look(copying.source)
        if source is not None and of is not None:
            self._add(Copied(source, FilePlace(place.path, place.real, tree[1]), by, of, before, False))
        return True

    @_guarded
    def _copyfile(self, source: Any, path: Any) -> None:
        source, path = absolute(source), absolute(path)
        by = self._frames.caller(sys._getframe(1)) if source and path else None
        if by is not None:
            self._copying.files = _Copying(source, os.path.realpath(source), os.path.realpath(path))

    @_guarded
    def _copytree(self, source: Any, path: Any) -> None:
        tree = absolute(source), absolute(path)
        known: tuple[str, str] | None = getattr(self._copying, "tree", None)
        if known is None or not all(map(beside, tree, known)):
            self._copying.tree = tree

    @_guarded
    def _renamed(self, source: Any, path: Any, source_folder: int = -1, folder: int = -1) -> None:
        self._named(absolute(source, source_folder), absolute(path, folder), "os.rename")

    @_guarded
    def _linked(self, source: Any, path: Any, source_folder: int = -1, folder: int = -1) -> None:
        self._named(absolute(source, source_folder), absolute(path, folder), "os.link")

    @_guarded
    def _symlinked(self, source: Any, path: Any, folder: int = -1) -> None:
        name = absolute(path, folder)
        if name:
            self._named(absolute(os.path.join(os.path.dirname(name), os.fsdecode(source))), name, "os.symlink")  # noqa: PTH118, PTH120

    def _named(self, source: str, path: str, action: str) -> None:
        by = self._frames.caller(sys._getframe(1)) if source and path else None
        if by is None:
            return
        self.copies(source, path, by if by.action else by._replace(action=action), same=True)

    def _copy(self, source: str, path: str, by: Caller, source_root: str, root: str, *, same: bool) -> None:
        real, of = real_name(path), look(source)
        if of is None or self._left_out(path) or self._left_out(real):
            return
        origin = self.place(source, source_root) or FilePlace(source, real_name(source), source_root)
        self._add(Copied(origin, FilePlace(path, real, root), by, of, look(path), same))

    @_guarded
    def _sqlite(self, path: Any) -> None:
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if text.startswith("file:"):
            text = (
                Dataset.parse(text.partition("?")[0]).name if text.startswith("file:/") else text[5:].partition("?")[0]
            )
        by = self._frames.caller(sys._getframe(1)) if text and text != ":memory:" else None
        place = None if by is None else self.place(absolute(text))
        if place is not None and by is not None:
            before = look(place.real)
            by = by._replace(action="sqlite3.connect")
            self._opened(FileOpened(place, by, now_ns(), before, before is not None, True, before is None))

    @_guarded
    def _temporary(self, path: Any) -> None:
        if self._frames.temporary(sys._getframe(1)):
            self._add(Temporary(os.path.realpath(absolute(path))))

    @_guarded
    def _forked(self) -> None:
        by = self._frames.caller(sys._getframe(1))
        if by is not None:
            why = "files that a forked process reads or writes are not followed"
            self._processes.setdefault(Untracked(by.action or "os.fork", why, by.site))

    @_guarded
    def _started(self, program: Any, arguments: Any, folder: Any, environment: Any) -> None:
        given = arguments if isinstance(arguments, (str, bytes, os.PathLike)) else list(arguments)
        if isinstance(given, list) and isinstance(program, (str, bytes, os.PathLike)) and given:
            given[0] = program
        self._ran(given, "subprocess.Popen", folder)

    @_guarded
    def _spawned(self, program: Any, arguments: Any, environment: Any) -> None:
        self._ran([program, *list(arguments)[1:]], "os.posix_spawn")

    @_guarded
    def _shell(self, command: Any) -> None:
        self._ran(command, "os.system")

    def _ran(self, command: Any, action: str, folder: Any = None) -> None:
        by = self._frames.caller(sys._getframe(2))
        if by is None:
            return
        try:
            given = [os.fsdecode(w) for w in command] if isinstance(command, list) else os.fsdecode(command)
        except TypeError:
            return  # Python rejects it too
        name = spark_command(given, "" if folder is None else os.fsdecode(folder))
        if name:
            why = (
                f"{name} runs Spark in another process, which is not captured; "
                "start Python scripts with `provspark run`"
            )
            self._processes.setdefault(Untracked(by.action or action, why, by.site))

    # -- the list

    def _opened(self, entry: FileOpened) -> None:
        if entry.reads and not entry.writes:
            assert entry.before is not None
            key = (entry.place.real, entry.before, entry.by.site)
            if key in self._read:
                return
            self._read.add(key)
        elif self._last.get(entry.place.real) == (entry.by.site, entry.fresh) and not entry.reads:
            return
        self._last[entry.place.real] = (entry.by.site, entry.fresh)
        self._add(entry)

    def _add(self, entry: Entry) -> None:
        if isinstance(entry, Copied):
            self._last.pop(entry.place.real, None)
            self._last.pop(entry.source.real, None)
        if len(self._entries) < MOST:
            self._entries.append(entry)
            return
        self.lose(
            Untracked("files", f"more than {MOST} files were opened between two writes; the others are not captured")
        )
        # The dropped entry counts here as recorded: forget it, so that a repetition is recorded.
        self._read.clear()
        self._last.clear()

    def _below(self, folder: str, by: Caller) -> list[str]:
        files = list(files_below(folder, MOST))
        if len(files) == MOST:
            self.lose(
                Untracked(by.action, f"{folder} has more than {MOST} files; the others are not captured", by.site)
            )
        return files


def _names_log(path: str) -> bool:
    """Whether a file's name is that of a log, including rotated logs."""
    return ".log" in Path(path).suffixes


def _taken(noted: dict[Untracked, None]) -> list[Untracked]:
    """Return and remove a dictionary's keys, in place because other threads may add to it meanwhile."""
    taken = list(noted)
    for one in taken:
        del noted[one]
    return taken
