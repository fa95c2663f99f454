"""An open store or catalogue whose stored operations can be run again."""

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
    """What questions start from that are answered by running stored operations again, on Spark, for some rows."""

    _replayer: Replayer | None = None

    @property
    def replayer(self) -> Replayer:
        """What runs replays; its ``most`` says how many rows are followed, and ``cancel()`` stops it."""
        from provspark.replay.replayer import Replayer

        if self._replayer is None:
            self._replayer = Replayer()
        return self._replayer

    @contextmanager
    def following(self, progress: Progress | None, functions: bool) -> Iterator[Replayer]:
        """What runs replays, which meanwhile tell how far they are, and run the user's functions if they may."""
        replayer = self.replayer
        before = replayer.functions
        replayer.progress, replayer.functions = progress, functions or before
        try:
            yield replayer
        finally:
            replayer.progress, replayer.functions = None, before

    @contextmanager
    def settling(self, progress: Progress | None, functions: bool) -> Iterator[Settle]:
        """Return a context with a function that replays rows, to find which values each of them was computed from."""
        with self.following(progress, functions) as replayer:
            yield replayer.cells
