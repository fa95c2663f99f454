"""Names that a script gives to its operations."""

from __future__ import annotations

from contextvars import ContextVar, Token
from types import TracebackType

__all__ = ["operation"]

_names: ContextVar[tuple[str, ...]] = ContextVar("provspark_operation", default=())


class operation:  # noqa: N801
    """Name the operations that are added to data frames within the block.

    Answers show them under this name, as one operation. Without capture it does nothing.

    Parameters
    ----------
    name : str
        A name within another is shown as ``outer / inner``.

    Examples
    --------
    >>> import provspark
    >>> with provspark.operation("one-hot"):
    ...     pass
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"An operation's name must be text that is not empty, not {name!r}")
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
    """Return the current name, or ""."""
    return " / ".join(_names.get())
