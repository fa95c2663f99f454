"""The one audit hook of this process: Python never removes a hook, so it stays, and passes on to whoever listens."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["listen", "stop"]

Handlers = dict[str, Callable[..., None]]

_handlers: Handlers = {}
"""By event; empty while no step is captured."""
_installed: list[bool] = []


def listen(handlers: Handlers) -> None:
    """Pass events to these functions, called with the event's arguments, until `stop`.

    They are called in the thread that raises the event, before the event happens. What they raise would fail the
    user's call, so they raise nothing. A process that is forked from this one passes nothing on.
    """
    _handlers.clear()
    _handlers.update(handlers)
    if not _installed:
        sys.addaudithook(_hook)
        os.register_at_fork(after_in_child=_handlers.clear)
        _installed.append(True)


def stop() -> None:
    """Pass nothing on."""
    _handlers.clear()


def _hook(event: str, args: tuple[Any, ...], handlers: Handlers = _handlers) -> None:
    # The default stays when Python shuts down and takes the names of this module away.
    handler = handlers.get(event)
    if handler is not None:
        handler(*args)
