"""Tells when a module of the script's is imported, so that what may never be needed is not imported for us."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["WhenImported"]


class WhenImported(MetaPathFinder):
    """Calls `then` with a module as soon as it is there: at once where it is imported already.

    Parameters
    ----------
    name : str
        The module's full name.
    then : callable
        Takes the module.
    """

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name, self._then = name, then
        if name in sys.modules:
            then(sys.modules[name])
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `MetaPathFinder.find_spec`; all but the one module is left to others."""
        if name != self._name:
            return None
        self.remove()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            loader.exec_module = self._executing(loader.exec_module)
        return spec

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _executing(self, execute: Callable[[Any], None]) -> Callable[[Any], None]:
        def executed(module: Any) -> None:
            execute(module)
            self._then(module)

        return executed
