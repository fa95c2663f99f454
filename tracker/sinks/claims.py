"""Claims on data sets: a task says that it is about to write one, so that a second writer is noticed before it starts.

STORE/claims/HASH/claim.json names the holder; NONCE.beat.N beside it are signs of life, of which the last one counts.
Whoever removes a claim, its holder too, first makes NONCE.taken: of two only one can.
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
"""Seconds between signs of life."""
LIMIT = 600.0
"""Seconds after which a silent claim of another machine counts for nothing."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a claim. `started` is the process's start in clock ticks since boot, 0 where that can't be known."""

    dataset: str
    owner: str
    host: str
    pid: int
    started: int
    since: str
    nonce: str

    @property
    def dead(self) -> bool:
        """Whether it was a process of this machine that is gone."""
        return Process(self.host, self.pid, self.started).dead


class Claim:
    """A claim held by this process, until `release`. A context manager."""

    def __init__(self, folder: Folder, place: str, holder: Holder) -> None:
        self._folder, self._place, self.holder = folder, place, holder
        self._over = threading.Event()
        self._beats = 0
        self._thread = threading.Thread(target=self._beat, name="provspark-claim", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Give it back; a second time does nothing."""
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
                log.warning("provspark: the claim on %s could not be renewed: %s", self.holder.dataset, e)


def claim(store: str, dataset: Dataset, owner: str) -> Claim:
    """Claim a data set for writing.

    Parameters
    ----------
    store : str
        The store's URL.
    dataset : Dataset
    owner : str
        Who writes, for the message to the other one: a step's id.

    Raises
    ------
    ConcurrentWriteError
        Somebody else holds it and lives.
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
                f"since {other.since}). Let one task write it at a time (order them in the DAG); if that one is gone "
                f"for good, remove {folder.url}/{place}/claim.json or wait {LIMIT / 60:.0f} minutes"
            )
        if _remove(folder, place, other.nonce):
            log.warning("provspark: %s takes over the claim on %s that %s left", owner, dataset, other.owner)
    raise ConcurrentWriteError(
        f"{dataset} is being claimed by several writers at once; let one task write it at a time"
    )


def _holder(folder: Folder, place: str) -> Holder | None:
    try:
        return Holder(**json.loads(folder.read(f"{place}/claim.json")[0]))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as e:
        where = f"{folder.url}/{place}/claim.json"
        raise ConcurrentWriteError(f"{where} is no claim that can be read; if nobody writes there, remove it") from e


def _silence(folder: Folder, place: str, nonce: str) -> float:
    """Seconds since the last sign of life."""
    names = ["claim.json", *(n for n in folder.names(place) if n.startswith(f"{nonce}.beat."))]
    stamps = folder.stamps([f"{place}/{n}" for n in names])
    return time.time() - max((s.mtime / 1e9 for s in stamps if s is not None), default=0.0)


def _remove(folder: Folder, place: str, nonce: str) -> bool:
    """Remove a claim if it is still that one, and nobody else is at it."""
    mark = f"{place}/{nonce}.taken"
    if not folder.put_if_absent(mark, b""):
        stamp = folder.stamps([mark])[0]
        if stamp is not None and time.time() - stamp.mtime / 1e9 > LIMIT:
            folder.remove(mark)  # whoever made it died over it
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
