"""Base class of `Provenance` with the means to replay stored operations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from provspark.index_store.query.asking import Asking
from provspark.model.progress import Progress

if TYPE_CHECKING:
    from provspark.index_store.query.column_walk import Settle
    from provspark.replay.replayer import Replayer

__all__ = ["Progress", "Replaying"]


class Replaying(Asking):
    """An open store or catalogue whose stored operations can be replayed on Spark."""

    _replayer: Replayer | None = None

    @property
    def replayer(self) -> Replayer:
        """The object that runs replays. ``most`` is the maximum number of rows; ``cancel()`` stops a replay."""
        from provspark.replay.replayer import Replayer

        if self._replayer is None:
            self._replayer = Replayer()
        return self._replayer

    @contextmanager
    def following(self, progress: Progress | None, functions: bool) -> Iterator[Replayer]:
        """Yield the replayer, which reports to `progress` and, if `functions` is true, runs user-defined functions."""
        replayer = self.replayer
        before = replayer.functions
        replayer.progress, replayer.functions = progress, functions or before
        try:
            yield replayer
        finally:
            replayer.progress, replayer.functions = None, before

    @contextmanager
    def settling(self, progress: Progress | None, functions: bool) -> Iterator[Settle]:
        """Yield a function that replays rows to find the cells that their values were computed from."""
        with self.following(progress, functions) as replayer:
            yield replayer.cells
