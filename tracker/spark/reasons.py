"""Short reasons of exceptions, for messages."""

from __future__ import annotations


def reason(error: Exception) -> str:
    """Return the first line of the innermost cause of a py4j error, or of any other error.

    >>> reason(ValueError("no path\\nat …"))
    'no path'
    """
    cause = getattr(error, "java_exception", None)
    if cause is None:
        return str(error).split("\n", 1)[0]
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.toString()).split("\n", 1)[0]
