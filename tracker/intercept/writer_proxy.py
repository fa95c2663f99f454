"""A Java writer as pyspark holds it, whose ends go through capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SETTERS = frozenset(
    {"format", "mode", "option", "options", "partitionBy", "bucketBy", "sortBy", "clusterBy", "schema"}
)
"""Methods whose result takes the writer's place: pyspark's DataFrameWriter keeps what they return. Of Java's
DataFrameWriterV2 it keeps the first writer and drops what setters return, so that only its ends need to be known.
A setter that a later Spark adds counts as an end until it stands here."""


class WriterProxy:
    """A Java writer whose ends go through the listener; anything else passes."""

    def __init__(self, writer: Any, end: Callable[[Any, str, tuple[Any, ...]], Any]) -> None:
        self._writer = writer
        self._end = end

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._writer, name)
        if name.startswith("_"):
            return member
        if name in _SETTERS:
            return lambda *args: WriterProxy(member(*args), self._end)
        return lambda *args: self._end(self._writer, name, args)
