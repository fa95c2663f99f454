"""Decorators that declare how the output rows of a function over batches or groups relate to its input rows.

With a declaration, capture can follow each row through the function. The decorators only set an attribute, so Spark's
executors do not need this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ATTRIBUTE = "__provspark__"


def rowwise(function: F) -> F:
    """Declare that a function returns one row for each input row, in the same order.

    Use it for functions of `mapInPandas`, `mapInArrow`, `applyInPandas` and `applyInArrow`. If the function returns
    more or fewer rows, the job fails with an error that names the function.

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
    """Declare that the index of each frame that a function returns identifies the input row of each of its rows.

    Use it for functions of `mapInPandas` and `applyInPandas`. Filtering, sorting, repeating or exploding rows keeps the
    index of a frame. A function over an iterator must make each frame that it returns from the last one that it read.
    If the index contains a label that is not in that frame, the job fails with an error that names the function.

    Examples
    --------
    >>> @keeps_index
    ... def adults(frames):
    ...     for frame in frames:
    ...         yield frame[frame.age >= 18]
    """
    setattr(function, ATTRIBUTE, "keeps_index")
    return function
