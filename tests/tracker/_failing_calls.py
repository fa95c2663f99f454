"""Makes the first call of one of our functions fail."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from provspark.tracker.intercept.interceptor import _Callback

FOLDERS = ("/provspark/tracker/", "/provspark/index_store/")
"""Of the code that runs in the driver."""


class BrokenError(Exception):
    """What the chosen call raises."""


class Failing:
    """A profile function (`sys.setprofile`) that raises at the first call of a function of ours, or never."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._seen: set[CodeType] = set()
        self.names: list[str] = []
        """Of the functions that were called, in the order of their first calls."""
        self.failed = ""

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen or not any(f in code.co_filename for f in FOLDERS):
            return
        if code.co_name.startswith("<") or not code.co_flags & inspect.CO_OPTIMIZED or "/runner.py" in code.co_filename:
            return  # no function, or a class that is defined
        self._seen.add(code)
        name = getattr(code, "co_qualname", code.co_name)  # of Python 3.11
        self.names.append(f"{code.co_filename.rsplit('/provspark/', 1)[1]}:{name}")
        if self.names[-1] == self._name:
            self.failed = self.names[-1]
            raise BrokenError(self.failed)

    @contextmanager
    def during(self) -> Iterator[None]:
        """Profile this thread, and those in which the JVM calls back."""
        plain = _Callback.apply

        def apply(callback: _Callback, event: str, node: Any) -> Any:
            sys.setprofile(self)
            try:
                return plain(callback, event, node)
            finally:
                sys.setprofile(None)

        _Callback.apply = apply  # type: ignore[method-assign]
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            _Callback.apply = plain  # type: ignore[method-assign]
