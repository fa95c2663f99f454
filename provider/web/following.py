"""Long questions: the work ends where whoever asked goes away, and who wants to is told how far it is.

A request whose ``Accept`` names ``text/event-stream`` is answered as ever where that is quick. Else by events, one line
of JSON each: how far it is, every half second, and at last ``event: answer`` with its status and body.
"""

from __future__ import annotations

import asyncio
import json

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from provspark.index_store.watch import Watch, watched
from provspark.web.problems import problem

__all__ = ["Following"]

_QUICK = 0.4
_EVERY = 0.5
_EVENTS = "text/event-stream"
_STREAMS = ("/export", "/graph")
"""Their answers go out as they come, and are no single JSON document."""


class Following:
    """Watches whether a client is still there, and tells it of progress."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = _EVENTS in Headers(scope=scope).get("accept", "") and not scope["path"].endswith(_STREAMS)
        with watched(Watch()) as watch:
            heard: asyncio.Queue[Message] = asyncio.Queue()
            listener = asyncio.create_task(_listen(receive, heard, watch))
            try:
                if told:
                    await self._follow(scope, heard.get, send, watch)
                else:
                    await self._app(scope, heard.get, send)
            finally:
                watch.cancel()
                listener.cancel()

    async def _follow(self, scope: Scope, receive: Receive, send: Send, watch: Watch) -> None:
        answer: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        work = asyncio.ensure_future(self._app(scope, receive, keep))
        done, _ = await asyncio.wait({work}, timeout=_QUICK)
        if done:
            await work
            for message in answer:
                await send(message)
            return
        head = [(b"content-type", _EVENTS.encode()), (b"cache-control", b"private, no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        while not done:
            so_far = json.dumps({"what": watch.what, "done": watch.done, "total": watch.total})
            await send({"type": "http.response.body", "body": f"data: {so_far}\n\n".encode(), "more_body": True})
            done, _ = await asyncio.wait({work}, timeout=_EVERY)
        if work.exception() is not None:
            answer.clear()
            await problem(500, "the question could not be answered; the server's log says more")(scope, receive, keep)
        status = next(m["status"] for m in answer if m["type"] == "http.response.start")
        body = b"".join(m.get("body", b"") for m in answer if m["type"] == "http.response.body")
        event = b'event: answer\ndata: {"status": %d, "body": %s}\n\n' % (status, body)
        await send({"type": "http.response.body", "body": event, "more_body": False})
        await work


async def _listen(receive: Receive, heard: asyncio.Queue[Message], watch: Watch) -> None:
    """Hand messages on to the app; the last one says that the client has gone."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            watch.cancel()
            heard.put_nowait(message)
            return
        heard.put_nowait(message)
