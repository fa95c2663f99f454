"""The strategy in Spark's planner that hands each command of a session to capture."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from provspark.tracker.session.troubles import log
from provspark.tracker.spark.jvm import gateway_server

if TYPE_CHECKING:
    from provspark.tracker.spark.jvm import Jvm

__all__ = ["Interceptor"]


class Interceptor:
    """Interceptor of the commands of a step's SparkContexts, one after another.

    Parameters
    ----------
    handle : callable
        Called with an event and the command's node; see `CommandEvents.handle`.
    limit : float
        Seconds that it may take before a command.
    """

    def __init__(self, handle: Callable[[str, Any], Any], limit: float) -> None:
        self._handle, self._limit = handle, limit
        self._java: Any = None
        self._saves: Any = None
        self._context: Any = None

    def watch(self, jvm: Jvm) -> bool:
        """Intercept the commands of a session. Return whether it is the first of its SparkContext."""
        first = self._java is None
        if first:
            from pyspark.java_gateway import ensure_callback_server_started

            ensure_callback_server_started(jvm.gateway)
            client = gateway_server(jvm.gateway).getCallbackClient()
            self._java = jvm.new("CommandInterceptor", _Callback(self._handle), client, int(self._limit * 1000))
            self._saves = jvm.new("RddSaves")
            self._context = jvm.spark.sparkContext._jsc.sc()
            self._context.addSparkListener(self._saves)
        self._java.watch(jvm.session)
        return first

    def saves(self) -> int:
        """Return the number of RDDs that Spark saved since the last call."""
        if self._java is None:
            return 0
        self._context.listenerBus().waitUntilEmpty(_PATIENCE_MS)
        return int(self._saves.take())

    def stop(self) -> None:
        """Stop intercepting."""
        if self._java is None:
            return
        self._java.stop()
        self._context.removeSparkListener(self._saves)
        self._java = self._saves = self._context = None


_PATIENCE_MS = 30_000


class _Callback:
    """Python side of the java.util.function.BiFunction that the strategy calls."""

    Java = SimpleNamespace(implements=("java.util.function.BiFunction",))
    """Interfaces, where py4j looks for them."""

    def __init__(self, handle: Callable[[str, Any], Any]) -> None:
        self._handle = handle

    def apply(self, event: str, node: Any) -> Any:
        """Handle an event. No error may reach Spark."""
        try:
            return self._handle(event, node)
        except BaseException as e:
            log.debug("provspark: an event of a command could not be handled", exc_info=e)
            return None
