"""The boundary between a script and its capture: trouble of ours stays here, unless it is to stop the script."""

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
    """Keeps errors of capture from the script.

    Parameters
    ----------
    troubles : Troubles
    """

    def __init__(self, troubles: Troubles) -> None:
        self._troubles = troubles

    @contextmanager
    def guard(self, why: str, node: str = "", *, sited: bool = True, fatal: bool = True) -> Iterator[None]:
        """Leave the block where it fails.

        Parameters
        ----------
        why, node : str
            What is lost by that, as in `Untracked`; the error is put behind `why`. Without a node no lineage is lost,
            and only the log is told.
        sited : bool
            Whether it is lost at the line of the script that runs.
        fatal : bool
            Whether it stops a script that is to be stopped by lost lineage.
        """
        try:
            yield
        except Exception as e:
            if not node:
                log.debug("provspark: %s", why, exc_info=e)
            elif fatal and self._troubles.stops(e):
                raise  # noted already, where it arose
            else:
                self._troubles.trouble(Untracked(node, f"{why}{e}", caller() if sited else ""), e, fatal=fatal)


def guarded(
    why: str, node: str = "", *, sited: bool = True
) -> Callable[[Callable[Concatenate[Any, P], None]], Callable[Concatenate[Any, P], None]]:
    """Guard all of a method whose object has a `boundary`; see `Boundary.guard`."""

    def decorated(method: Callable[Concatenate[Any, P], None]) -> Callable[Concatenate[Any, P], None]:
        @wraps(method)
        def run(this: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            with this.boundary.guard(why, node, sited=sited):
                method(this, *args, **kwargs)

        return run

    return decorated
