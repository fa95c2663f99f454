"""A bounded cache that threads can share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Cache"]

V = TypeVar("V")


class Cache(Generic[V]):
    """Cache of the entries used last, up to a total weight; an entry heavier than half of it is not kept."""

    def __init__(self, limit: int) -> None:
        self._limit, self._weight = limit, 0
        self._entries: OrderedDict[Hashable, tuple[int, V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the entry of a key, or None."""
        return self.several([key])[0]

    def several(self, keys: Iterable[Hashable]) -> list[V | None]:
        """Return the entry of each key, or None."""
        values: list[V | None] = []
        with self._lock:
            for key in keys:
                entry = self._entries.get(key)
                if entry is not None:
                    self._entries.move_to_end(key)
                values.append(None if entry is None else entry[1])
        return values

    def put(self, key: Hashable, value: V, weight: int = 1) -> None:
        """Keep an entry; the least recently used ones are dropped."""
        self.put_several([(key, value, weight)])

    def put_several(self, entries: Iterable[tuple[Hashable, V, int]]) -> None:
        """Keep entries, given with their weights."""
        with self._lock:
            for key, value, weight in entries:
                if weight * 2 > self._limit:
                    continue
                old = self._entries.pop(key, None)
                self._weight += weight - (old[0] if old else 0)
                self._entries[key] = (weight, value)
            while self._weight > self._limit:
                self._weight -= self._entries.popitem(last=False)[1][0]
