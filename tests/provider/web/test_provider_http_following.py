"""Long questions: work ends where the client goes away, and progress is told to who asks for it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from _http import BASE, build, client, id_of

from provspark.errors import QuestionCancelledError
from provspark.model.progress import tell
from provspark.web.scope import UserScope

Message = dict[str, Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


def call(
    app: Any, root: Path, *, accept: str = "*/*", leave: float | None = None, path: str = "/trace"
) -> list[Message]:
    """Ask over ASGI, and go away after some seconds."""
    body = json.dumps({"dataset": id_of(root, "people"), "rows": [0]}).encode()
    sent: list[Message] = []

    async def run() -> None:
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            await asyncio.sleep(3600 if leave is None else leave)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(b"who", b"me"), (b"content-type", b"application/json"), (b"accept", accept.encode())]
        scope = {"type": "http", "method": "POST", "path": BASE + path, "raw_path": (BASE + path).encode()}
        scope |= {"query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http"}
        scope |= {"server": ("testserver", 80), "client": ("testclient", 1), "root_path": ""}
        ask: Callable[..., Awaitable[None]] = app
        await ask(scope, receive, send)

    asyncio.run(run())
    return sent


def slowly(monkeypatch: pytest.MonkeyPatch, seconds: float, error: type[Exception] | None = None) -> list[str]:
    """Let traces take long; tells how they ended."""
    ended: list[str] = []
    real = UserScope.trace

    def trace(self: UserScope, query: Any) -> Any:
        until = time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                tell("rows", 3, 9)
                time.sleep(0.01)
        except QuestionCancelledError:
            ended.append("cancelled")
            raise
        ended.append("done")
        if error is not None:
            raise error("the trace's own trouble")
        return real(self, query)

    monkeypatch.setattr(UserScope, "trace", trace)
    return ended


def test_work_ends_where_the_client_goes_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = client(root).app
    for accept in ("application/json", "text/event-stream"):
        ended = slowly(monkeypatch, 60)
        began = time.monotonic()
        call(app, root, accept=accept, leave=0.6)
        assert ended == ["cancelled"] and time.monotonic() - began < 30


def test_progress_is_told_and_then_the_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = client(root)
    plain = api.post(f"{BASE}/trace", json={"dataset": id_of(root, "people"), "rows": [0]}).json()
    slowly(monkeypatch, 1)
    start, *parts = call(client(root).app, root, accept="application/json, text/event-stream")
    assert start["status"] == 200 and (b"content-type", b"text/event-stream") in start["headers"]
    *before, last = b"".join(p["body"] for p in parts).decode().strip().split("\n\n")
    assert before and all(
        json.loads(b.removeprefix("data: ")) == {"what": "rows", "done": 3, "total": 9} for b in before
    )
    event, data = last.split("\n")
    assert event == "event: answer"
    assert json.loads(data.removeprefix("data: ")) == {"status": 200, "body": plain}


def test_a_quick_answer_is_as_ever(root: Path) -> None:
    (start, *_) = call(client(root).app, root, accept="text/event-stream")
    assert (b"content-type", b"application/json") in start["headers"]
    (start, *_) = call(client(root).app, root, accept="text/event-stream", path="/none")
    assert start["status"] == 404


def test_trouble_is_told_in_the_last_event(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(monkeypatch, 0.6, ZeroDivisionError)
    seen: list[Message] = []
    with pytest.raises(ZeroDivisionError):
        seen = call(client(root).app, root, accept="text/event-stream")
    assert seen == []
    from provspark.errors import SettingsError

    slowly(monkeypatch, 0.6, SettingsError)
    *_, last = call(client(root).app, root, accept="text/event-stream")
    told = json.loads(last["body"].decode().split("data: ", 1)[1])
    assert told["status"] == 503 and "own trouble" in told["body"]["detail"]
