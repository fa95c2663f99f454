"""Identity of the process that wrote something, and whether it still runs."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Process"]


@dataclass(frozen=True, slots=True)
class Process:
    """A process on some machine. `started` is its start in clock ticks since boot, 0 if unknown."""

    host: str
    pid: int
    started: int

    @classmethod
    def current(cls) -> Process:
        """Return this process."""
        return cls(socket.gethostname(), os.getpid(), _started(os.getpid()))

    @property
    def here(self) -> bool:
        """Whether the process belongs to this machine."""
        return self.host == socket.gethostname()

    @property
    def alive(self) -> bool:
        """Whether the process runs on this machine; False for those of other machines, of which nothing is known."""
        return self.here and _alive(self.pid) and (self.started == 0 or _started(self.pid) in (0, self.started))

    @property
    def dead(self) -> bool:
        """Whether the process ran on this machine and has ended; False for those of other machines."""
        return self.here and not self.alive


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
