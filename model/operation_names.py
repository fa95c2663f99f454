"""Names that a script gives to what it does."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType

__all__ = ["operation"]

_names: ContextVar[tuple[str, ...]] = ContextVar("provspark_operation", default=())


class operation:  # noqa: N801
    """Name the operations that data frames get within the block.

    Questions tell them by this name, as one; without capture it does nothing.

    Parameters
    ----------
    name : str
        One name within another reads as ``outer / inner``.

    Examples
    --------
    >>> import provspark
    >>> with provspark.operation("one-hot"):
    ...     pass
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"an operation's name is a text, not {name!r}")
        self._name = " ".join(name.split())
        self._tokens: list[Token[tuple[str, ...]]] = []

    def __enter__(self) -> operation:
        self._tokens.append(_names.set((*_names.get(), self._name)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _names.reset(self._tokens.pop())


def current_name() -> str:
    """Return the name that is in force, or ""."""
    return " / ".join(_names.get())
