"""Replays for the API, in separate processes: cancelling a question kills its process, idle processes are reused."""

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
"""Seconds after the time limit of a replay after which the request itself times out."""


class Replays:
    """Runner of replays. Waiting and running replays use no thread of the server.

    Parameters
    ----------
    limits : Limits
    installation : str
        Servers of this machine that pass the same text share the limits.
    command : sequence of str
        Command that starts a replay process; see `provspark.web.replay_worker`.
    """

    def __init__(self, limits: Limits, installation: str, command: Sequence[str] = _COMMAND) -> None:
        self.seconds, self._command = limits.replay_seconds, command
        self._slots = Slots(installation, limits)
        self._idle: list[_Worker] = []

    async def run(self, question: dict[str, Any], user: str) -> Any:
        """Run a question in a replay process and return the response body.

        Raises
        ------
        ReplayError
            The replay failed or took too long, or replays are disabled.
        TooManyReplaysError
            The user, or all users together, already have the maximum number of replays.
        PackageMissingError
            Spark is not installed.
        QuestionCancelledError
            The client disconnected. The replay process was killed.
        """
        if not self.seconds:
            raise errors.ReplayError(
                f"Replays are disabled on this server ({named('replay_seconds')} is 0). Run `provspark replay` instead."
            )
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
        """Stop the idle processes."""
        while self._idle:
            worker = self._idle.pop()
            worker.kill()
            worker.wait()

    @asynccontextmanager
    async def _turn(self, user: str, until: float) -> AsyncIterator[None]:
        """Wait until the replay may run."""
        place = self._slots.enter(user)
        try:
            while not self._slots.start(place):
                tell("waiting for other replays")
                if time.monotonic() > until:
                    raise errors.TooManyReplaysError("The replay timed out while it waited for other replays", 1)
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
        # In a session of its own, so that killing it also kills Spark's JVM.
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
        with suppress(BrokenPipeError):  # the process exited; reading the answer reports it
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
                    raise errors.ReplayError(
                        "The replay process exited before it answered. Check that Spark runs on this server."
                    )
                self._read += part
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    @staticmethod
    def _check(until: float, seconds: float) -> None:
        check()
        if time.monotonic() > until:
            raise errors.ReplayError(
                f"The replay exceeded {seconds:g} seconds ({named('replay_seconds')}) and was stopped. "
                "Run `provspark replay`, which has no time limit."
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
    """Run a question in a replay process, limited to what the user may see, and return the response body.

    Parameters
    ----------
    arguments : dict
        Arguments as `provspark.web.question_arguments` returns them.
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
