"""Limits of one request and of one user."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from pydantic_core import PydanticCustomError

from provspark.model.errors import SettingsError

__all__ = ["LIMITS", "MOST_CONDITIONS", "Limits", "few_conditions", "named"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the HTTP API; each is an option of Airflow's section ``[provspark]`` with the same name.

    Parameters
    ----------
    max_body : int
        Bytes in the body of a request.
    max_conditions : int
        Conditions (``where``) in a request.
    max_steps : int
        Steps that a query goes through.
    max_items : int
        Items in a list that is not paginated.
    request_seconds : float
        Seconds until the first byte of the response, except for replays.
    questions, questions_per_user : int
        Concurrent queries in one server process. Further queries wait.
    replay_seconds : float
        Seconds for a replay, including its wait for other replays; 0 disables replays.
    replays, replays_per_user : int
        Concurrent replays, in all server processes of this machine.
    replays_waiting, replays_waiting_per_user : int
        Waiting replays. Further ones get a 429 response.

    Raises
    ------
    SettingsError
        A limit is not positive.
    """

    max_body: int = 1 << 20
    max_conditions: int = 100
    max_steps: int = 10_000
    max_items: int = 10_000
    request_seconds: float = 30.0
    questions: int = 16
    questions_per_user: int = 8
    replay_seconds: float = 120.0
    replays: int = 2
    replays_per_user: int = 1
    replays_waiting: int = 20
    replays_waiting_per_user: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0 and not (field.name == "replay_seconds" and value == 0):
                raise SettingsError(f"{named(field.name)} is {value!r}; set it to a number above 0")

    @classmethod
    def read(cls, setting: Callable[[str], str | None]) -> Limits:
        """Read the limits from settings.

        Parameters
        ----------
        setting : callable
            Returns the text of the setting with a given name; None or an empty text for the default.

        Raises
        ------
        SettingsError
            A limit is not a number, or is not positive.
        """
        values = {}
        for name, kind in get_type_hints(cls).items():
            text = (setting(name) or "").strip()
            if text:
                try:
                    values[name] = kind(text)
                except ValueError as e:
                    what = "a whole number" if kind is int else "a number"
                    raise SettingsError(f"{named(name)} is {text!r}; set it to {what}") from e
        return cls(**values)


LIMITS: ContextVar[Limits] = ContextVar("provspark_limits", default=Limits())  # noqa: B039 (frozen)
"""Limits of the current request."""


def named(name: str) -> str:
    """Return a setting's name for messages, with its section in Airflow's configuration."""
    return f"[provspark] {name}"


def few_conditions(where: list[str] | None) -> list[str] | None:
    """Reject a list with more conditions than the limit."""
    most = LIMITS.get().max_conditions
    if where is not None and len(where) > most:
        why = (
            f"The request has {len(where):,} conditions; the limit is {most:,} ({named('max_conditions')}). "
            "Combine conditions with `in`, or pass row ids"
        )
        raise PydanticCustomError("too_many_conditions", why)
    return where


MOST_CONDITIONS: dict[str, Any] = {"maxItems": Limits().max_conditions}
"""Default limit, for the OpenAPI description."""
