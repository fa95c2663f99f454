"""Threads of the API's own: its questions never use those that Airflow's routes wait for."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from provspark.model.progress import check
from provspark.web.limits import LIMITS
from provspark.web.paging import PagePart, check_lists

__all__ = ["USER", "Route", "as_json", "chunks", "in_thread"]

P = ParamSpec("P")
T = TypeVar("T")

USER: ContextVar[str] = ContextVar("provspark_user", default="")
"""Who asks, in the task of their request."""


class _Threads:
    """How many threads are in use in one event loop, by all and by each user."""

    def __init__(self) -> None:
        self.all = CapacityLimiter(LIMITS.get().questions)
        self._users: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()

    def of(self, user: str) -> CapacityLimiter:
        limiter = self._users.get(user)
        if limiter is None:
            limiter = self._users[user] = CapacityLimiter(LIMITS.get().questions_per_user)
        return limiter


_THREADS: RunVar[_Threads] = RunVar("provspark_threads")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread, once the user and all users have fewer than they may.

    Raises
    ------
    QuestionCancelledError
        Nobody waits any longer; the function was not called.
    """
    threads = _THREADS.get(None)
    if threads is None:
        threads = _Threads()
        _THREADS.set(threads)

    def checked() -> T:
        check()
        return work(*args, **kwargs)

    async with threads.of(USER.get()):
        return await to_thread.run_sync(checked, limiter=threads.all)


async def chunks(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Make each part of an answer in one of these threads."""
    while (part := await in_thread(next, parts, None)) is not None:
        yield part


def as_json(answer: Any, kind: TypeAdapter[Any]) -> Response:
    """Return models as an answer; here, since FastAPI would make the text in the event loop."""
    check_lists(answer)
    link = {"Link": answer.link} if isinstance(answer, PagePart) and answer.link else None
    return Response(kind.dump_json(answer), headers=link, media_type="application/json")


class Route(APIRoute):
    """A route whose function, unless it is a coroutine, runs in one of these threads."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **kwargs: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _threaded(endpoint)
        super().__init__(path, endpoint, **kwargs)


def _threaded(endpoint: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    # With names resolved: FastAPI would look them up in this module.
    signature = inspect.signature(endpoint, eval_str=True)
    kind = signature.return_annotation
    model = None if inspect.isclass(kind) and issubclass(kind, Response) else TypeAdapter(kind)

    def answer(**kwargs: Any) -> Any:
        result = endpoint(**kwargs)
        return result if model is None else as_json(result, model)

    async def run(**kwargs: Any) -> Any:
        return await in_thread(partial(answer, **kwargs))

    run.__name__, run.__doc__, run.__module__ = endpoint.__name__, endpoint.__doc__, endpoint.__module__
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run
