"""Claims: locks on datasets that a task takes before it writes, so that a second writer fails before it starts.

STORE/claims/HASH/claim.json names the holder. The files NONCE.beat.N next to it are heartbeats, of which the last one
counts. Every process that removes a claim, including its holder, first creates NONCE.taken, which only one can.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
import uuid
from dataclasses import dataclass
from types import TracebackType

from provspark.index_store.store.fs.folder import Folder
from provspark.index_store.store.fs.opening import open_folder
from provspark.index_store.store.processes import Process
from provspark.model.datasets import Dataset
from provspark.model.errors import ConcurrentWriteError, ProvSparkError

__all__ = ["Claim", "claim"]

log = logging.getLogger(__name__)

BEAT = 60.0
"""Seconds between heartbeats."""
LIMIT = 600.0
"""Seconds without a heartbeat after which a claim expires."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a claim. `started` is its start time in clock ticks since boot, or 0 if unknown."""

    dataset: str
    owner: str
    host: str
    pid: int
    started: int
    since: str
    nonce: str

    @property
    def dead(self) -> bool:
        """Whether the holder is a process of this machine that no longer runs."""
        return Process(self.host, self.pid, self.started).dead


class Claim:
    """Context manager for a claim that this process holds until `release`."""

    def __init__(self, folder: Folder, place: str, holder: Holder) -> None:
        self._folder, self._place, self.holder = folder, place, holder
        self._over = threading.Event()
        self._beats = 0
        self._thread = threading.Thread(target=self._beat, name="provspark-claim", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Release the claim; further calls do nothing."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join()
        _remove(self._folder, self._place, self.holder.nonce)

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            stem = f"{self._place}/{self.holder.nonce}.beat"
            try:
                self._folder.put_if_absent(f"{stem}.{self._beats + 1}", b"")
                self._folder.remove(f"{stem}.{self._beats}")
                self._beats += 1
            except (ProvSparkError, OSError) as e:
                log.warning("provspark: Could not renew the write lock on %s: %s", self.holder.dataset, e)


def claim(store: str, dataset: Dataset, owner: str) -> Claim:
    """Claim a dataset for writing.

    Parameters
    ----------
    store : str
        The store's URL.
    dataset : Dataset
    owner : str
        Id of the step that writes, for error messages of other writers.

    Raises
    ------
    ConcurrentWriteError
        A running process holds a claim on the dataset, or several try to take it.
    """
    folder = open_folder(store)
    place = "claims/" + hashlib.sha256(dataset.uri.encode()).hexdigest()[:32]
    own = Process.current()
    mine = Holder(
        dataset=dataset.uri,
        owner=owner,
        host=own.host,
        pid=own.pid,
        started=own.started,
        since=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        nonce=uuid.uuid4().hex,
    )
    data = json.dumps({name: getattr(mine, name) for name in Holder.__slots__}).encode()
    for _ in range(_TRIES):
        if folder.put_if_absent(f"{place}/claim.json", data):
            return Claim(folder, place, mine)
        other = _holder(folder, place)
        if other is None:
            continue
        if not other.dead and _silence(folder, place, other.nonce) < LIMIT:
            raise ConcurrentWriteError(
                f"{dataset} is being written by {other.owner} (process {other.pid} on {other.host}, "
                f"since {other.since}). Let one task write it at a time (order the tasks in the DAG). If that process "
                f"no longer runs, remove {folder.url}/{place}/claim.json or wait {LIMIT / 60:.0f} minutes"
            )
        if _remove(folder, place, other.nonce):
            log.warning("provspark: %s takes over the write lock on %s that %s left", owner, dataset, other.owner)
    raise ConcurrentWriteError(f"{dataset} is being locked by several writers at once; let one task write it at a time")


def _holder(folder: Folder, place: str) -> Holder | None:
    try:
        return Holder(**json.loads(folder.read(f"{place}/claim.json")[0]))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as e:
        where = f"{folder.url}/{place}/claim.json"
        raise ConcurrentWriteError(f"{where} is damaged; remove it if no task is writing that dataset") from e


def _silence(folder: Folder, place: str, nonce: str) -> float:
    """Return the seconds since the last heartbeat."""
    names = ["claim.json", *(n for n in folder.names(place) if n.startswith(f"{nonce}.beat."))]
    stamps = folder.stamps([f"{place}/{n}" for n in names])
    return time.time() - max((s.mtime / 1e9 for s in stamps if s is not None), default=0.0)


def _remove(folder: Folder, place: str, nonce: str) -> bool:
    """Remove the claim with this nonce, unless another process is removing it; return whether it was removed."""
    mark = f"{place}/{nonce}.taken"
    if not folder.put_if_absent(mark, b""):
        stamp = folder.stamps([mark])[0]
        if stamp is not None and time.time() - stamp.mtime / 1e9 > LIMIT:
            folder.remove(mark)  # its process died before it removed the claim
        return False
    holder = _holder(folder, place)
    still = holder is not None and holder.nonce == nonce
    if still:
        folder.remove(f"{place}/claim.json")
    for name in folder.names(place):
        if name.startswith(f"{nonce}.beat."):
            folder.remove(f"{place}/{name}")
    folder.remove(mark)
    folder.remove_empty(place)
    return still
