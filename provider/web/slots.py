"""Limits on running and waiting replays, across all server processes of a machine.

Each replay has a file, which its server process locks with `flock`. The kernel releases the lock when the process ends,
even if it is killed. An unlocked file belongs to a process that has died.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import secrets
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from provspark.model.errors import SettingsError, TooManyReplaysError
from provspark.web.limits import Limits

__all__ = ["Slot", "Slots"]

_log = logging.getLogger(__name__)

_AGAIN = 10
"""Seconds after which to try again: about the time that a replay of a few rows takes."""
_TRIES = 20
"""Milliseconds to wait for the lock; short, because the event loop waits too."""
_LENGTH = 200
_LOCK = "lock"
_WAITS, _RUNS = b"waits ", b"runs  "


@dataclass(frozen=True, slots=True)
class Slot:
    """Slot of a waiting or running replay."""

    file: Path
    descriptor: int


class Slots:
    """Slots of waiting and running replays.

    Parameters
    ----------
    installation : str
        Servers that pass the same text, as the same OS user on this machine, share the limits.
    limits : Limits
    """

    def __init__(self, installation: str, limits: Limits) -> None:
        self._installation, self._limits = _hashed(installation), limits

    def enter(self, user: str) -> Slot:
        """Return a new slot: running if the limits allow it, otherwise at the end of the queue.

        Raises
        ------
        TooManyReplaysError
            The user, or all users together, already have the maximum number of waiting replays.
        SettingsError
            The folder for the files can't be created, or belongs to another user.
        """
        limits, mine = self._limits, _hashed(user)
        with _usable(), self._alone() as folder:
            there = _places(folder)
            new = folder / f"{time.monotonic_ns():020d}-{secrets.token_hex(4)}"
            runs = new.name in self._next({**there, new.name: (False, mine)})
            if not runs:
                waiting = Counter(whose for runs, whose in there.values() if not runs)
                if waiting[mine] >= limits.replays_waiting_per_user:
                    raise TooManyReplaysError(f"You already have {waiting[mine]} replays waiting", _AGAIN)
                if waiting.total() >= limits.replays_waiting:
                    raise TooManyReplaysError(f"{waiting.total()} replays of all users are already waiting", _AGAIN)
            return Slot(new, _held(new, (_RUNS if runs else _WAITS) + mine.encode()))

    def start(self, place: Slot) -> bool:
        """Return whether the replay may run now. Replays run in order, except those of users who are at their limit."""
        try:
            return self._start(place)
        except TooManyReplaysError:  # another process has the lock
            return False

    def _start(self, place: Slot) -> bool:
        with _usable(), self._alone() as folder:
            places = _places(folder)
            if place.file.name not in places:  # a cleaner of temporary files removed it
                places[place.file.name] = _put_back(place)
            runs, _ = places[place.file.name]
            if not runs and place.file.name in self._next(places):
                os.pwrite(place.descriptor, _RUNS, 0)
                runs = True
            return runs

    def leave(self, place: Slot) -> None:
        """Release a slot."""
        with suppress(OSError):
            place.file.unlink(missing_ok=True)
        os.close(place.descriptor)

    def _next(self, places: dict[str, tuple[bool, str]]) -> set[str]:
        """Return the names of the waiting slots that may run."""
        running = Counter(whose for runs, whose in places.values() if runs)
        names = set()
        for name in sorted(places):
            runs, whose = places[name]
            allowed = running.total() < self._limits.replays and running[whose] < self._limits.replays_per_user
            if not runs and allowed:
                names.add(name)
                running[whose] += 1
        return names

    def _folder(self) -> Path:
        folder = _private(Path(tempfile.gettempdir()) / f"provspark-replays-{os.getuid()}") / self._installation
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    @contextmanager
    def _alone(self) -> Iterator[Path]:
        """Lock the folder against other processes, for microseconds."""
        folder = self._folder()
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            for last in (*[False] * _TRIES, True):
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if last:
                        raise TooManyReplaysError("Another server process has locked the replay queue", 1) from None
                    time.sleep(0.001)
            yield folder
        finally:
            os.close(lock)


def _places(folder: Path) -> dict[str, tuple[bool, str]]:
    """Return whether each slot's replay runs and its user, by file name; delete the files of dead processes."""
    places = {}
    for file in folder.iterdir():
        if file.name == _LOCK or not file.is_file():
            continue
        try:
            descriptor = os.open(file, os.O_RDWR)
        except FileNotFoundError:  # released in the meantime
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
        except BlockingIOError:
            places[file.name] = _read(descriptor)
        finally:
            os.close(descriptor)
    return places


def _put_back(place: Slot) -> tuple[bool, str]:
    """Create a slot's file again, and return whether its replay runs and its user."""
    descriptor = _held(place.file, os.pread(place.descriptor, _LENGTH, 0))
    os.dup2(descriptor, place.descriptor)
    os.close(descriptor)
    return _read(place.descriptor)


def _held(file: Path, told: bytes) -> int:
    """Create and lock a slot's file, and return its descriptor."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.pwrite(descriptor, told, 0)
    return descriptor


def _read(descriptor: int) -> tuple[bool, str]:
    """Return whether a slot's replay runs, and its user."""
    told = os.pread(descriptor, _LENGTH, 0)
    return told.startswith(_RUNS), told[len(_RUNS) :].decode(errors="replace")


@contextmanager
def _usable() -> Iterator[None]:
    """Replace OS errors by one that does not name the server's folders."""
    try:
        yield
    except OSError as e:
        _log.error("Replays can't run: %s", e)
        raise SettingsError("Replays can't run: the server can't use their folder. See the server's log.") from e


def _private(folder: Path) -> Path:
    """Create a folder that no other user of the machine can access."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as e:
        raise OSError(f"can't create the folder {folder}: {e.strerror}. Set TMPDIR to another folder.") from e
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise OSError(f"{folder} is not a folder that only this user can access. Remove it, or set TMPDIR.")
    return folder


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
