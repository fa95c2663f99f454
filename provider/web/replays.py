"""Replays for the API, each in a process that ends with its question; one that is idle is kept for the next."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from provspark import errors
from provspark.index_store.watch import check, tell

__all__ = ["Replays"]

_COMMAND = (sys.executable, "-m", "provspark.web.replay_worker")
_AT_ONCE = 2
_LOOK = 0.2


class Replays:
    """Runs replays for whoever asks.

    Parameters
    ----------
    seconds : float
        How long one may take; 0 for no replays at all.
    command : sequence of str
        Starts the process that replays; see `provspark.web.replay_worker`.
    """

    def __init__(self, seconds: float, command: Sequence[str] = _COMMAND) -> None:
        self.seconds, self._command = seconds, command
        self._free = BoundedSemaphore(_AT_ONCE)
        self._idle: list[_Worker] = []
        self._lock = Lock()

    def run(self, question: dict[str, Any]) -> Any:
        """Return what `provspark.web.replay_worker` answers.

        Raises
        ------
        ReplayError
            It can't be replayed, took too long, or replays are switched off.
        PackageMissingError
            No Spark is installed here.
        QuestionCancelledError
            Nobody waits any longer; the process that worked is ended.
        """
        if not self.seconds:
            raise errors.ReplayError("replays are switched off here ([provspark] replay_seconds)")
        until = time.monotonic() + self.seconds
        while not self._free.acquire(timeout=_LOOK):
            tell("waiting for another replay to end")
            if time.monotonic() > until:
                raise errors.ReplayError("others replay already; ask again in a while")
        try:
            worker = self._worker()
            try:
                answer = worker.ask(question, until, self.seconds)
            except BaseException:
                worker.end()
                raise
            with self._lock:
                self._idle.append(worker)
        finally:
            self._free.release()
        return answer

    def close(self) -> None:
        """End the processes that are idle."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()

    def _worker(self) -> _Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                worker.end()
        return _Worker(self._command)


class _Worker:
    def __init__(self, command: Sequence[str]) -> None:
        # A session of its own, so that Spark's Java ends with it.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: dict[str, Any], until: float, seconds: float) -> Any:
        tell("starting Spark")
        assert self._process.stdin is not None
        with suppress(OSError):  # it ended: the reader says so
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        while True:
            check()
            if time.monotonic() > until:
                raise errors.ReplayError(
                    f"the replay took longer than the {seconds:g} seconds that it may take here "
                    f"([provspark] replay_seconds); `provspark replay` has no limit"
                )
            try:
                line = self._lines.get(timeout=_LOOK)
            except queue.Empty:
                continue
            if not line:
                raise errors.ReplayError("the process that replays ended; Spark may not run on this machine")
            told = json.loads(line)
            if "of" in told:
                tell("operations", told["done"], told["of"])
            elif "error" in told:
                if "path" in told:
                    raise errors.CorruptIndexError(told["path"], told["why"])
                raise _error(told["error"], told["why"])
            else:
                return told["answer"]

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")


def _error(name: str, why: str) -> errors.ProvSparkError:
    if name == errors.PackageMissingError.__name__:
        return errors.PackageMissingError("replay on this server", "pyspark")
    same = (errors.VersionChangedError, errors.ValuesUnavailableError, errors.JavaNotFoundError)
    return next((found for found in same if found.__name__ == name), errors.ReplayError)(why)
