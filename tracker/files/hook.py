"""The one audit hook of this process: Python never removes a hook, so it stays, and passes on to whoever listens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["listen", "stop"]

Handlers = dict[str, Callable[..., None]]

_handlers: Handlers = {}
"""By event; empty while no step is captured."""
_installed = False


def listen(handlers: Handlers) -> None:
    """Pass events to these functions, called with the event's arguments, until `stop`.

    They are called in the thread that raises the event, before the event happens. What they raise would fail the
    user's call, so they raise nothing.
    """
    global _handlers, _installed
    _handlers = handlers
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


def stop() -> None:
    """Pass nothing on."""
    global _handlers
    _handlers = {}


def _hook(event: str, args: tuple[Any, ...]) -> None:
    handler = _handlers.get(event)
    if handler is not None:
        handler(*args)
