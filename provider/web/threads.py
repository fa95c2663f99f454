"""The API's own threads: its queries never occupy the threads of Airflow's routes."""

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
"""User of the current request."""


class _Threads:
    """Limits on the threads in use in one event loop, in total and per user."""

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
    """Run a function in a thread, once the limits per user and in total allow it.

    Raises
    ------
    QuestionCancelledError
        The client disconnected while the function waited; it was not called.
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
    """Compute each part of a streamed response in one of these threads."""
    while (part := await in_thread(next, parts, None)) is not None:
        yield part


def as_json(answer: Any, kind: TypeAdapter[Any]) -> Response:
    """Return models as a JSON response. FastAPI would serialize them in the event loop."""
    check_lists(answer)
    link = {"Link": answer.link} if isinstance(answer, PagePart) and answer.link else None
    return Response(kind.dump_json(answer), headers=link, media_type="application/json")


class Route(APIRoute):
    """Route whose function runs in one of these threads, unless it is a coroutine."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **kwargs: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _threaded(endpoint)
        super().__init__(path, endpoint, **kwargs)


def _threaded(endpoint: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    # Resolve annotations here: FastAPI would look their names up in this module.
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
