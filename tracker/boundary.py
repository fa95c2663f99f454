"""Error boundary between a script and its capture: errors of capture reach the script only if they must stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from provspark.model.writes import Untracked
from provspark.tracker.script.sites import caller
from provspark.tracker.session.troubles import Troubles, log

__all__ = ["Boundary", "guarded"]

P = ParamSpec("P")


class Boundary:
    """Keeps errors of capture away from the script.

    Parameters
    ----------
    troubles : Troubles
        Records lost lineage and decides whether it stops the script.
    """

    def __init__(self, troubles: Troubles) -> None:
        self._troubles = troubles

    @contextmanager
    def guard(self, why: str, node: str = "", *, sited: bool = True, fatal: bool = True) -> Iterator[None]:
        """Catch an error of the block, and record which lineage it costs.

        Parameters
        ----------
        why, node : str
            The lost lineage, as in `Untracked`. The error's text is appended to `why`. Without a node, no lineage is
            lost: the error goes to the debug log only.
        sited : bool
            Whether to record the script's current line.
        fatal : bool
            Whether the error may stop the script if ``on_error="fail"``.
        """
        try:
            yield
        except Exception as e:
            if not node:
                log.debug("provspark: %s", why, exc_info=e)
            elif fatal and self._troubles.stops(e):
                raise  # already recorded where it was raised
            else:
                self._troubles.trouble(Untracked(node, f"{why}{e}", caller() if sited else ""), e, fatal=fatal)


def guarded(
    why: str, node: str = "", *, sited: bool = True
) -> Callable[[Callable[Concatenate[Any, P], None]], Callable[Concatenate[Any, P], None]]:
    """Decorate a method of an object with a `boundary` so that its whole body runs within `Boundary.guard`."""

    def decorated(method: Callable[Concatenate[Any, P], None]) -> Callable[Concatenate[Any, P], None]:
        @wraps(method)
        def run(this: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            with this.boundary.guard(why, node, sited=sited):
                method(this, *args, **kwargs)

        return run

    return decorated
