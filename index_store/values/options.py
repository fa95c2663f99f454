"""Spark's reader options: how they are spelled, and errors for those that can't be followed exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from provspark.model.errors import ValuesUnavailableError

__all__ = ["boolean", "charset", "decode", "refusal", "refuse"]

_CHARSETS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "iso-8859-1": "latin-1",
    "latin1": "latin-1",
    "us-ascii": "ascii",
    "ascii": "ascii",
}
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def boolean(options: Mapping[str, str], name: str, default: bool = False) -> bool:
    """Return the value of a boolean option."""
    return options.get(name, str(default)).strip().lower() == "true"


def charset(options: Mapping[str, str]) -> str:
    """Return Python's name of the file's encoding.

    Raises
    ------
    ValuesUnavailableError
        The encoding is unknown, or its lines are not lines of its bytes (UTF-16, UTF-32).
    """
    name = options.get("encoding", options.get("charset", "UTF-8"))
    codec = _CHARSETS.get(name.strip().lower())
    if codec is None:
        raise refusal("encoding", name)
    return codec


def decode(data: bytes, name: str = "utf-8") -> str:
    """Decode bytes like Java's ``new String``: each broken part, or encoded surrogate, becomes one U+FFFD."""
    try:
        return data.decode(name)
    except UnicodeDecodeError:
        return (_SURROGATE.sub(b"\xef\xbf\xbd", data) if name == "utf-8" else data).decode(name, "replace")


def refuse(options: Mapping[str, str], flags: Iterable[str] = (), settings: Iterable[str] = ()) -> None:
    """Raise an error for options that change rows, or their values, in a way that is not supported.

    Raises
    ------
    ValuesUnavailableError
        One of `flags` is true, one of `settings` is set, or bad records were dropped.
    """
    for name in flags:
        if boolean(options, name.lower()):
            raise refusal(name, "true")
    for name in settings:
        if options.get(name.lower()):
            raise refusal(name, options[name.lower()])
    mode = options.get("mode", "PERMISSIVE")
    if mode.upper() == "DROPMALFORMED":
        raise refusal("mode", mode)


def refusal(name: str, value: str) -> ValuesUnavailableError:
    """Return the error that names an option."""
    return ValuesUnavailableError(
        f"Rows read with the option {name}={value!r} can't be found by position outside Spark. "
        f"The row ids are still valid."
    )
