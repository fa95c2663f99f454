"""Declarations that a user's function over batches or groups keeps to, so that its rows can be followed one by one.

The functions stay what they are: a declaration is an attribute of theirs, and Spark's executors need nothing of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ATTRIBUTE = "__provspark__"


def rowwise(function: F) -> F:
    """Declare that a function returns one row for each row that it is given, in their order.

    For functions of `mapInPandas`, `mapInArrow`, `applyInPandas` and `applyInArrow`. A run in which the function
    returns more rows or fewer fails with an error that names it.

    Examples
    --------
    >>> @rowwise
    ... def scored(frames):
    ...     for frame in frames:
    ...         yield frame.assign(score=frame.x * 2)
    """
    setattr(function, ATTRIBUTE, "rowwise")
    return function


def keeps_index(function: F) -> F:
    """Declare that the index of each frame that a function returns names the rows which its rows were made from.

    For functions of `mapInPandas` and `applyInPandas`: filtering, sorting, repeating or exploding rows keeps the
    index of a frame. Of an iterator, each frame that is returned has to be made from the last one that was read.
    A run in which the index names no row of that frame fails with an error that names the function.

    Examples
    --------
    >>> @keeps_index
    ... def adults(frames):
    ...     for frame in frames:
    ...         yield frame[frame.age >= 18]
    """
    setattr(function, ATTRIBUTE, "keeps_index")
    return function
