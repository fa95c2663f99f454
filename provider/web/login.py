"""The user of a request, as the app's login dependency returns it, and the secret that a request carries."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from starlette.requests import Request

__all__ = ["Viewer", "bearer", "matches"]


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


def bearer(request: Request) -> str | None:
    """Return what a request sends as ``Authorization: Bearer SECRET``, or None if it sends nothing of this scheme."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def matches(given: str, secret: str) -> bool:
    """Return whether a text is the secret, in a time that does not depend on their first difference."""
    return hmac.compare_digest(given.encode(), secret.encode())
