"""Replay process: reads questions and writes answers, one line of JSON each, and exits when there are no more.

Replays run Spark, which must not run in the API server; a separate process can be killed at any time. Masked values
never leave this process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from threading import Event, Thread
from typing import Any, TextIO

from fastapi import HTTPException

from provspark.api import Provenance
from provspark.index_store.query.links import Linker
from provspark.index_store.query.question import QUESTIONS
from provspark.machine_checks import find_java
from provspark.model.errors import CorruptIndexError, ProvSparkError
from provspark.web.answer_forms import AskedFor, shown
from provspark.web.policy import Policy
from provspark.web.question_arguments import answered, checked_columns, version_asked
from provspark.web.replay_forms import LINES
from provspark.web.scope import UserScope
from provspark.web.visible import Visible

__all__ = ["main"]

_NICE = 10
_PATIENCE = 120.0
"""Seconds without a question after which the process exits."""


def main() -> int:
    """Answer the questions on standard input."""
    # Redirect other output, such as Spark's startup messages, so that it doesn't mix with the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    # Spark's JVM inherits the priority, so replays don't slow the server down.
    os.nice(_NICE)
    busy = Event()
    Thread(target=_watch_server, args=(busy,), daemon=True).start()
    known: dict[str, Provenance] = {}
    while select.select([sys.stdin], [], [], _PATIENCE)[0]:
        line = sys.stdin.readline()
        if not line:
            break
        busy.set()
        _say(out, _answer(json.loads(line), known, out))
        busy.clear()
    return 0


def _watch_server(busy: Event) -> None:
    """If the server dies during a question, kill this process and all its children."""
    poll = select.poll()
    poll.register(sys.stdin, 0)  # only the end of the pipe
    poll.poll()
    busy.wait()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)


def _answer(asked: dict[str, Any], known: dict[str, Provenance], out: TextIO) -> dict[str, Any]:
    visible = None
    try:
        if not known:
            find_java()
        url = asked["url"]
        prov = known.get(url) or known.setdefault(url, Provenance(url, relative=False))
        prov.refresh()
        prov.replayer.most = LINES
        linker = Linker(prov.graph)
        visible = Visible(Policy.read(asked["policy"]), linker)
        dags = None if asked["dags"] is None else frozenset(asked["dags"])
        return {"answer": _asked(asked, UserScope(linker, prov, dags, visible), out)}
    except CorruptIndexError as error:
        return {"error": type(error).__name__, "why": error.what, "path": error.path}
    except ProvSparkError as error:
        return {"error": type(error).__name__, "why": visible.error(error) if visible else str(error)}
    except HTTPException as error:
        return {"error": type(error).__name__, "why": str(error.detail), "status": error.status_code}


def _asked(asked: dict[str, Any], scope: UserScope, out: TextIO) -> Any:
    """Run a question on what the user may see, and return the response body."""
    question, arguments = QUESTIONS[asked["question"]], asked["arguments"]

    def progress(done: int, of: int, text: str) -> None:
        _say(out, {"done": done, "of": of})

    answer = answered(scope, question, arguments, progress=progress)
    at = version_asked(scope, question, arguments)
    about = AskedFor(scope, arguments, at, question.words, checked_columns(question), asked["cursor"], asked["limit"])
    return shown(about, answer).model_dump(mode="json")


def _say(out: TextIO, what: dict[str, Any]) -> None:
    out.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    sys.exit(main())
