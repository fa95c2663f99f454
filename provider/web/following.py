"""Slow requests: cancelled if the client disconnects or time runs out; progress is streamed to clients that ask for it.

A request that accepts ``text/event-stream`` gets an ordinary response if it is ready quickly. Otherwise the response is
a stream of events with one line of JSON each: the progress every half second, then ``event: answer`` with status and
body.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provspark.model.progress import QuestionProgress, watched
from provspark.web.limits import LIMITS, Limits, named
from provspark.web.problems import problem

__all__ = ["Following"]

_QUICK = 0.4
_EVERY = 0.5
_EVENTS = "text/event-stream"
_STREAMS = ("/export", "/graph")
"""Ends of paths whose responses are streams or other formats than JSON: they never become events."""


class Following:
    """Middleware that cancels requests of disconnected clients, enforces the time limit, and streams progress."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = _EVENTS in Headers(scope=scope).get("accept", "") and not scope["path"].endswith(_STREAMS)
        LIMITS.set(self._limits)
        until = time.monotonic() + self._limits.request_seconds
        with watched(QuestionProgress(self._limits.max_steps, until)) as watch:
            heard: asyncio.Queue[Message] = asyncio.Queue()
            listener = asyncio.create_task(_listen(receive, heard, watch))
            try:
                await (self._follow if told else self._answer)(scope, heard.get, send, watch)
            finally:
                watch.cancel()
                listener.cancel()

    async def _answer(self, scope: Scope, receive: Receive, send: Send, watch: QuestionProgress) -> None:
        """Forward the response; if its body does not start in time, send an error instead."""
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        head: list[Message] = []
        late = False

        async def hold(message: Message) -> None:
            if late:
                return
            if message["type"] == "http.response.start":
                head.append(message)
                return
            if not begun.done():
                begun.set_result(None)
                await send(head[0])
            await send(message)

        async with _running(self._app(scope, receive, hold)) as work:
            if not await _wait({work, begun}, watch):
                late = True
                watch.cancel()
                await self._late()(scope, receive, send)

    async def _follow(self, scope: Scope, receive: Receive, send: Send, watch: QuestionProgress) -> None:
        answer: list[Message] = []
        instead: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        async def replace(message: Message) -> None:
            instead.append(message)

        async with _running(self._app(scope, receive, keep)) as work:
            done = await _wait({work}, watch, _QUICK)
            if done:
                await work
                for message in answer:
                    await send(message)
                return
            head = [(b"content-type", _EVENTS.encode()), (b"cache-control", b"private, no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            while not done and time.monotonic() < watch.until:
                so_far = json.dumps({"what": watch.what, "done": watch.done, "total": watch.total})
                await send({"type": "http.response.body", "body": f"data: {so_far}\n\n".encode(), "more_body": True})
                done = await _wait({work}, watch, _EVERY)
            if not done:
                watch.cancel()
                await self._late()(scope, receive, replace)
            elif work.exception() is not None:
                why = "The query failed. See the server's log."
                await problem(500, why)(scope, receive, replace)
            parts = instead or answer
            status = next(m["status"] for m in parts if m["type"] == "http.response.start")
            body = b"".join(m.get("body", b"") for m in parts if m["type"] == "http.response.body")
            event = b'event: answer\ndata: {"status": %d, "body": %s}\n\n' % (status, body)
            await send({"type": "http.response.body", "body": event, "more_body": False})

    def _late(self) -> Response:
        seconds = self._limits.request_seconds
        return problem(
            503,
            f"The query exceeded {seconds:g} seconds ({named('request_seconds')}) and was stopped. "
            "Select fewer rows, or one dataset with `to`.",
        )


@asynccontextmanager
async def _running(app: Awaitable[None]) -> AsyncIterator[asyncio.Future[None]]:
    """Run the app as a task; on exit wait for it, or cancel it after an error."""
    work = asyncio.ensure_future(app)
    try:
        yield work
        await work
    finally:
        work.cancel()


async def _wait(what: set[asyncio.Future[None]], watch: QuestionProgress, seconds: float = math.inf) -> bool:
    """Wait until one of these is done. Return False after `seconds`, or when the request's time is up."""
    end = time.monotonic() + seconds
    while (left := min(end, watch.until) - time.monotonic()) > 0:
        done, _ = await asyncio.wait(what, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if done:
            return True
    return False


async def _listen(receive: Receive, heard: asyncio.Queue[Message], watch: QuestionProgress) -> None:
    """Forward the client's messages to the app, and cancel the request when the client disconnects."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            watch.cancel()
            heard.put_nowait(message)
            return
        heard.put_nowait(message)
