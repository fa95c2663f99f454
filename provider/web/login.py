"""The user of a request, as the app's login dependency returns it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Viewer"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Logged-in user.

    Parameters
    ----------
    dags : frozenset of str or None
        DAGs whose steps the user may see; None for all steps.
    user : str
        Unique id of the user, for the limits per user.
    """

    dags: frozenset[str] | None
    user: str
