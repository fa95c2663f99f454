"""Replays for the API, each in a process that ends with its question; one that is idle is kept for the next."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from anyio import move_on_after, wait_readable, wait_writable
from fastapi import HTTPException, Request

from provspark import errors
from provspark.model.json_form import jsonable
from provspark.model.progress import check, lasts, tell
from provspark.web.limits import Limits, named
from provspark.web.login import Viewer
from provspark.web.scope import UserScope
from provspark.web.slots import Slots

__all__ = ["Replays", "replayed"]

_COMMAND = (sys.executable, "-m", "provspark.web.replay_worker")
_LOOK = 0.1
_CHUNK = 1 << 16
_GRACE = 5.0
"""Seconds after which a replay that does not end in time by itself is answered for."""


class Replays:
    """Runs replays for whoever asks; while they wait and run, they take no thread of the server.

    Parameters
    ----------
    limits : Limits
    installation : str
        Servers with the same text, on this machine, share the limits.
    command : sequence of str
        Starts the process that replays; see `provspark.web.replay_worker`.
    """

    def __init__(self, limits: Limits, installation: str, command: Sequence[str] = _COMMAND) -> None:
        self.seconds, self._command = limits.replay_seconds, command
        self._slots = Slots(installation, limits)
        self._idle: list[_Worker] = []

    async def run(self, question: dict[str, Any], user: str) -> Any:
        """Return what `provspark.web.replay_worker` answers.

        Raises
        ------
        ReplayError
            It can't be replayed, took too long, or replays are switched off.
        TooManyReplaysError
            The user, or all users, have as many replays as they may.
        PackageMissingError
            No Spark is installed here.
        QuestionCancelledError
            Nobody waits any longer; the process that worked is ended.
        """
        if not self.seconds:
            raise errors.ReplayError(f"replays are disabled on this server ({named('replay_seconds')} is 0)")
        until = time.monotonic() + self.seconds
        lasts(until + _GRACE)
        async with self._turn(user, until):
            worker = self._worker()
            try:
                answer = await worker.ask(question, until, self.seconds)
            except BaseException:
                await worker.end()
                raise
            self._idle.append(worker)
            return answer

    def close(self) -> None:
        """End the processes that are idle."""
        while self._idle:
            worker = self._idle.pop()
            worker.kill()
            worker.wait()

    @asynccontextmanager
    async def _turn(self, user: str, until: float) -> AsyncIterator[None]:
        """Wait until a replay may run."""
        place = self._slots.enter(user)
        try:
            while not self._slots.start(place):
                tell("waiting for another replay to end")
                if time.monotonic() > until:
                    raise errors.TooManyReplaysError("timed out while waiting for other replays", 1)
                await asyncio.sleep(_LOOK)
            yield
        finally:
            self._slots.leave(place)

    def _worker(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.kill()
        return _Worker(self._command)


class _Worker:
    def __init__(self, command: Sequence[str]) -> None:
        # A session of its own, so that Spark's Java ends with it.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._read = bytearray()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    async def ask(self, question: dict[str, Any], until: float, seconds: float) -> Any:
        tell("starting Spark")
        asked = memoryview(json.dumps(question).encode() + b"\n")
        with suppress(BrokenPipeError):  # it ended: there will be no answer
            while asked:
                self._check(until, seconds)
                with move_on_after(_LOOK):
                    await wait_writable(self._to)
                    asked = asked[os.write(self._to, asked[:_CHUNK]) :]
        while True:
            told = json.loads(await self._line(until, seconds))
            if "of" in told:
                tell("operations", told["done"], told["of"])
            elif "error" in told:
                if "path" in told:
                    raise errors.CorruptIndexError(told["path"], told["why"])
                if "status" in told:
                    raise HTTPException(told["status"], told["why"])
                raise _error(told["error"], told["why"])
            else:
                return told["answer"]

    async def _line(self, until: float, seconds: float) -> bytes:
        seen = 0
        while (end := self._read.find(b"\n", seen)) < 0:
            seen = len(self._read)
            self._check(until, seconds)
            with move_on_after(_LOOK):
                await wait_readable(self._from)
                part = os.read(self._from, _CHUNK)
                if not part:
                    raise errors.ReplayError("the replay process exited; check that Spark can run on this machine")
                self._read += part
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    @staticmethod
    def _check(until: float, seconds: float) -> None:
        check()
        if time.monotonic() > until:
            raise errors.ReplayError(
                f"the replay exceeded {seconds:g} seconds ({named('replay_seconds')}); `provspark replay` has no limit"
            )

    async def end(self) -> None:
        self.kill()
        while self.alive:
            await asyncio.sleep(0.01)

    def wait(self) -> None:
        self._process.wait()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


async def replayed(
    request: Request, scope: UserScope, question: str, arguments: dict[str, Any], cursor: int, limit: int
) -> Any:
    """Return what the API answers to a question, from a process that replays, over what the user may see.

    Parameters
    ----------
    arguments : dict
        As `provspark.web.question_arguments` makes them.
    """
    replays: Replays = request.app.state.replays
    viewer: Viewer = request.state.provspark_viewer
    whole = {
        "url": scope.prov.url,
        "dags": None if scope.dags is None else sorted(scope.dags),
        "policy": jsonable(scope.visible.policy),
        "question": question,
        "arguments": arguments,
        "cursor": cursor,
        "limit": limit,
    }
    return await replays.run(whole, viewer.user)


def _error(name: str, why: str) -> errors.ProvSparkError:
    if name == errors.PackageMissingError.__name__:
        return errors.PackageMissingError("replay on this server", "pyspark")
    same = (
        *(errors.VersionChangedError, errors.ValuesUnavailableError, errors.JavaNotFoundError, errors.UntrackedError),
        *(errors.ConditionError, errors.UnknownColumnError),
    )
    return next((type_ for type_ in same if type_.__name__ == name), errors.ReplayError)(why)
