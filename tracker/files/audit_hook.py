"""The process's single audit hook. Python can't remove a hook, so it stays installed and forwards to the listener."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["listen", "stop"]

Handlers = dict[str, Callable[..., None]]

_handlers: Handlers = {}
"""Handlers by event; empty while no step is captured."""
_installed: list[bool] = []


def listen(handlers: Handlers) -> None:
    """Call these functions with the arguments of their events until `stop`.

    They run in the thread that raises the event, before the event happens. An exception would fail the user's call, so
    they must not raise. Forked processes forward no events.
    """
    _handlers.clear()
    _handlers.update(handlers)
    if not _installed:
        sys.addaudithook(_hook)
        os.register_at_fork(after_in_child=_handlers.clear)
        _installed.append(True)


def stop() -> None:
    """Stop forwarding events."""
    _handlers.clear()


def _hook(event: str, args: tuple[Any, ...], handlers: Handlers = _handlers) -> None:
    # A default argument stays valid when Python clears the module's names at shutdown.
    handler = handlers.get(event)
    if handler is not None:
        handler(*args)
