"""Stores of answers that were unpickled: opened again, by their URL, when something is read from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from provspark.model.errors import StoreUnreachableError, UnpickledAnswerError

__all__ = ["ReopenedStore"]


class ReopenedStore:
    """Has the methods of the store at a URL, which it opens when the first of them is called.

    Other settings, such as credentials, are those of this process.
    """

    def __init__(self, opened: Callable[[str], Any], url: str) -> None:
        self._opened, self.url = opened, url

    @cached_property
    def _store(self) -> Any:
        try:
            return self._opened(self.url)
        except StoreUnreachableError as error:
            raise UnpickledAnswerError(self.url, str(error)) from error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._store, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return ReopenedStore, (self._opened, self.url)
