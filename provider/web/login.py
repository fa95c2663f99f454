"""Who asks: a dependency of the whole app says so, or ends the request."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Viewer"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """A user who has logged in.

    Parameters
    ----------
    dags : frozenset of str or None
        The DAGs whose steps they may see; None for all steps.
    user : str
        Who they are, for the limits of each user; no other user has the same text.
    """

    dags: frozenset[str] | None
    user: str
