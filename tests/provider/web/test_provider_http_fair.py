"""One user's replays don't stall another: how many run and wait at once, in all server processes together."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
import httpx
import pytest
from _http import BASE, build, client, id_of
from fastapi.testclient import TestClient

from provspark.errors import SettingsError, TooManyReplaysError
from provspark.web.limits import Limits
from provspark.web.local import local_app
from provspark.web.policy import Policy
from provspark.web.replays import Replays
from provspark.web.scope import UserScope
from provspark.web.slots import Slot, Slots
from provspark.web.source import AnswerSource

T = TypeVar("T")
WAITS = """import os, sys, time
for line in sys.stdin:
    while not os.path.exists(sys.argv[1]): time.sleep(0.02)
    print('{"answer": {"passages": []}}', flush=True)"""
HOLDS = """import sys
from provspark.web.limits import Limits
from provspark.web.slots import Slots
slots = Slots("here", Limits())
print(slots.start(slots.enter(sys.argv[1])), flush=True)
input()"""
WORKS = """import subprocess, sys, time
from provspark.web import replay_worker
def replay(question):
    niceness = subprocess.run(["nice"], capture_output=True, text=True).stdout
    if question["sleep"]:
        with open(question["sleep"], "w") as file:
            print(subprocess.Popen(["sleep", "99"]).pid, file=file, flush=True)
        time.sleep(99)
    return int(niceness)
replay_worker._answer = lambda question, *_: {"answer": replay(question)}
sys.exit(replay_worker.main())"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


async def until(what: Callable[[], bool]) -> None:
    for _ in range(3000):
        if what():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come to that in a minute")


def in_time(what: Callable[[], T]) -> T:
    for _ in range(3000):
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come to that in a minute")


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_fifty_replays_of_one_user(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    app: Any = client(root).app
    replays = Replays(Limits(), "here", (sys.executable, "-c", WAITS, str(tmp_path / "go")))
    app.state.replays = replays
    asked = {"dataset": id_of(root, "people"), "rows": [0]}

    async def run() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x", headers={"who": "me"}) as api:

            def replay(name: str) -> asyncio.Task[httpx.Response]:
                return asyncio.ensure_future(api.post(f"{BASE}/replay", json=asked, headers={"name": name}))

            mine = [replay("ann") for _ in range(50)]
            await until(lambda: sum(t.done() for t in mine) == 47)
            for refused in (t.result() for t in mine if t.done()):
                assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
                assert refused.headers["content-type"] == "application/problem+json"
                assert "You already have 2 replays waiting" in refused.json()["detail"]
            other = replay("bob")
            await until(lambda: len(running(replays)) == 2)
            assert not other.done()
            # They wait without a thread, and others are answered meanwhile.
            assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
            for name in ("ann", "bob"):
                answer = await asyncio.wait_for(api.get(f"{BASE}/datasets", headers={"name": name}), 60)
                assert answer.status_code == 200
            (tmp_path / "go").touch()
            answers = await asyncio.gather(other, *(t for t in mine if not t.done()))
            assert [a.status_code for a in answers] == [200] * 4
            assert all(a.json()["passages"] == [] for a in answers)

    asyncio.run(run())
    assert not list(replays._slots._folder().glob("0*"))
    replays.close()


def test_slow_questions_of_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many, they wait; others are answered, and the server's own threads are free."""
    root = build(tmp_path / "data")
    limits = Limits(request_seconds=300, questions=3, questions_per_user=2)
    app: Any = client(root, limits=limits).app
    go, entered = threading.Event(), []
    real = UserScope.trace

    def trace(self: UserScope, query: Any) -> Any:
        entered.append(query)
        go.wait(60)
        return real(self, query)

    monkeypatch.setattr(UserScope, "trace", trace)

    async def run() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x", headers={"who": "me"}) as api:
            asked = {"dataset": id_of(root, "people"), "rows": [0]}
            mine = [
                asyncio.ensure_future(api.post(f"{BASE}/trace", json=asked, headers={"name": "ann"})) for _ in range(50)
            ]
            await until(lambda: len(entered) == 2)
            answer = await asyncio.wait_for(api.get(f"{BASE}/datasets", headers={"name": "bob"}), 60)
            assert answer.status_code == 200 and len(entered) == 2
            assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
            go.set()
            assert {a.status_code for a in await asyncio.gather(*mine)} == {200}

    asyncio.run(run())


def running(replays: Replays) -> list[Path]:
    return [f for f in replays._slots._folder().glob("0*") if f.read_bytes().startswith(b"runs")]


def test_processes_share_the_limits_and_a_dead_one_has_none(temporary: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, "ann"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "True\n"
        slots = Slots("here", Limits())
        waits = [slots.enter("ann"), slots.enter("ann")]
        assert not any(slots.start(place) for place in waits)
        with pytest.raises(TooManyReplaysError, match="You already have 2"):
            slots.enter("ann")
        bob, carl = slots.enter("bob"), slots.enter("carl")
        assert slots.start(bob) and not slots.start(carl)
        assert Slots("elsewhere", Limits()).start(Slots("elsewhere", Limits()).enter("ann"))
        other.kill()
        other.wait()
        # Who waits longest is first, even where another looks first.
        assert not slots.start(carl) and not slots.start(waits[1]) and slots.start(waits[0])
        slots.leave(bob)
        assert not slots.start(waits[1]) and slots.start(carl)
    written = [*temporary.rglob("*")]
    texts = [f.name + (f.read_text() if f.is_file() else "") for f in written]
    assert written and not any(name in text for text in texts for name in ("ann", "bob", "carl", "here"))
    assert all(f.stat().st_mode & 0o077 == 0 for f in written)


def test_the_queue_has_an_end() -> None:
    slots = Slots("here", Limits(replays=1, replays_waiting=3))
    places: list[Slot] = [slots.enter(f"user {i}") for i in range(4)]
    assert [slots.start(p) for p in places] == [True, False, False, False]
    with pytest.raises(TooManyReplaysError, match="3 replays of all users are already waiting"):
        slots.enter("user 5")
    slots.leave(places[2])
    slots.enter("user 5")


def test_a_folder_of_somebody_else_is_refused(temporary: Path) -> None:
    slots = Slots("here", Limits())
    folder = temporary / f"provspark-replays-{os.getuid()}"
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)
    with pytest.raises(SettingsError, match="server's log"):
        slots.enter("ann")
    folder.rmdir()
    (temporary / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(temporary / "elsewhere")
    with pytest.raises(SettingsError, match="server's log"):
        slots.enter("ann")


def test_a_folder_that_a_cleaner_took(temporary: Path) -> None:
    slots = Slots("here", Limits(replays=1))
    places = [slots.enter(f"user {i}") for i in range(3)]
    shutil.rmtree(temporary / f"provspark-replays-{os.getuid()}")
    assert [slots.start(p) for p in places] == [True, False, False]
    slots.leave(places[0])
    assert slots.start(places[1]) and not slots.start(places[2])


def test_a_folder_that_is_none(temporary: Path) -> None:
    slots = Slots("here", Limits())
    place = slots.enter("ann")
    folder = place.file.parent
    shutil.rmtree(folder)
    folder.write_text("")
    for broken in (lambda: slots.enter("bob"), lambda: slots.start(place)):
        with pytest.raises(SettingsError, match="server's log") as told:
            broken()
        assert str(temporary) not in str(told.value)
    slots.leave(place)
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(place.descriptor)


def test_a_lock_that_another_process_keeps(temporary: Path) -> None:
    slots = Slots("here", Limits())
    place = slots.enter("ann")
    with (place.file.parent / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TooManyReplaysError, match="Another server process"):
            slots.enter("bob")
        assert not slots.start(place)
    assert slots.start(place)


def test_waiting_takes_no_longer_than_a_replay_may(tmp_path: Path) -> None:
    slots = Slots("here", Limits())
    slots.enter("ann")
    replays = Replays(Limits(replay_seconds=0.3), "here", (sys.executable, "-c", WAITS, str(tmp_path / "go")))
    with pytest.raises(TooManyReplaysError, match="timed out"):
        asyncio.run(replays.run({}, "ann"))


def test_a_large_question_and_a_large_answer() -> None:
    echo = "import sys\nfor line in sys.stdin: print('{\"answer\": ' + line.strip() + '}', flush=True)"
    replays = Replays(Limits(), "here", (sys.executable, "-c", echo))
    question = {"dags": ["x" * 50] * 50_000}
    assert asyncio.run(replays.run(question, "ann")) == question
    replays.close()


def worker() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def test_replays_yield_the_processor() -> None:
    with worker() as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps({"sleep": None}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["answer"] == os.nice(0) + 10


def test_a_replay_ends_with_its_server(tmp_path: Path) -> None:
    with worker() as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"sleep": str(tmp_path / "pid")}) + "\n")
        process.stdin.flush()
        pid = int(in_time(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
        process.stdin.close()  # as where the server is killed
        assert process.wait(60) == -signal.SIGKILL
    in_time(lambda: gone(pid))


def test_sessions_are_users(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    app = local_app(AnswerSource(lambda: str(root / "prov"), Policy()), "t" * 16, "127.0.0.1", 8765)
    seen = []
    api: Any = app.routes[1].app  # type: ignore[attr-defined]

    class Noted:
        async def run(self, question: dict[str, Any], user: str) -> Any:
            seen.append(user)
            return {"passages": []}

    api.state.replays = Noted()
    asked = {"dataset": id_of(root, "people"), "rows": [0]}
    for _ in range(2):
        page = TestClient(app, base_url="http://127.0.0.1:8765")
        page.get("/", params={"token": "t" * 16})
        page.post(f"/provspark{BASE}/replay", json=asked)
    page.post(f"/provspark{BASE}/replay", json=asked)
    bearer = {"Authorization": f"Bearer {'t' * 16}"}
    TestClient(app, base_url="http://127.0.0.1:8765").post(f"/provspark{BASE}/replay", json=asked, headers=bearer)
    first, second, again, token = seen
    assert second == again and len({first, second, token}) == 3


def test_airflows_users(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("airflow")
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from starlette.requests import Request

    from provspark.web import airflow

    class Manager:
        def get_authorized_dag_ids(self, *, user: Any, method: str) -> set[str]:
            return {"shop"}

    monkeypatch.setattr(airflow, "get_auth_manager", Manager)
    request = Request({"type": "http", "headers": []})
    airflow._login(request, SimpleAuthManagerUser(username="ann", role="viewer"))
    assert (request.state.provspark_viewer.user, request.state.provspark_viewer.dags) == ("ann", {"shop"})
