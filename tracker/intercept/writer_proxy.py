"""Proxy of the Java writer that pyspark holds, which routes final calls through capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SETTERS = frozenset(
    {"format", "mode", "option", "options", "partitionBy", "bucketBy", "sortBy", "clusterBy", "schema"}
)
"""Methods whose result replaces the writer: pyspark's DataFrameWriter keeps what they return. Its DataFrameWriterV2
keeps the first Java writer and drops what setters return, so it needs no such list. A setter that a later Spark adds
counts as a final call until you add it here."""


class WriterProxy:
    """Java writer whose final calls go to `end`. All other members pass through."""

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
