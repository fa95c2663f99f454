"""The kinds of stops: where an answer ends early, or is less precise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provspark.model.datasets import Dataset
from provspark.model.driver_datasets import is_driver

__all__ = ["STOPS", "Blur", "Doubt", "Stop", "StopKind", "sentence", "stop_kind"]

Blur = Literal[
    "untracked",
    "unlinked",
    "coarse",
    "declared",
    "columns",
    "unreadable",
    "returned",
    "task",
    "outside",
    "files",
    "driver",
    "driver-reads-off",
    "before-format-3",
]
Doubt = Literal["nothing", "something", "count"]


@dataclass(frozen=True, slots=True)
class StopKind:
    """Meaning of one kind of stop.

    Parameters
    ----------
    name : str
        Name as in `Stop.what`, in ``expect`` messages and in ``trust``.
    ends : bool
        Whether the path ends there; otherwise the answer goes on, but is less precise.
    fails : set of {"nothing", "something", "count"}
        Expectations of `ProvQueryOperator` that can't be confirmed with such a stop.
    wording : str
        What it says about the step, in the middle of a sentence.
    trust : str
        What else, besides its own name, ``trust`` accepts for it.
    """

    name: Blur
    ends: bool
    fails: frozenset[Doubt]
    wording: str
    trust: str


@dataclass(frozen=True, slots=True, order=True)
class Stop:
    """A place where an answer ends or is less precise.

    Parameters
    ----------
    what : Blur
        Kind of the stop; `STOPS` and docs/stops.md list them.
    step : str
        Id of the step that the answer could not go through, or that is coarse; "" if several steps can't be read.
    dataset : str
        The dataset that the step wrote; "" if the step can't be read.
    why : str
    """

    what: Blur
    step: str
    dataset: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: " + (f"step {self.step}, which wrote {self.dataset}: " if self.dataset else "") + self.why


_ALL: frozenset[Doubt] = frozenset({"nothing", "something", "count"})
_LOST: frozenset[Doubt] = frozenset({"nothing", "count"})
_MORE: frozenset[Doubt] = frozenset({"something", "count"})
_PLACES = "the task, its operator, or the line of the write"

STOPS: tuple[StopKind, ...] = (
    StopKind("untracked", True, _LOST, "was not captured", _PLACES),
    StopKind("unlinked", True, _LOST, "uses a file that another step read or counted differently", _PLACES),
    StopKind(
        "coarse",
        False,
        _MORE,
        "was captured as a whole, so each of its rows counts as made from all rows read",
        _PLACES,
    ),
    StopKind(
        "declared",
        False,
        _MORE,
        "was not captured, and is linked as declared",
        _PLACES,
    ),
    StopKind(
        "columns",
        False,
        _MORE,
        "has unknown operations, so each of its columns counts as made from all columns read",
        _PLACES,
    ),
    StopKind("unreadable", False, _LOST, "can't be read", ""),
    StopKind("returned", True, _LOST, "collected rows that may have reached the dataset passed as to=", _PLACES),
    StopKind(
        "task",
        True,
        _LOST,
        "may have passed rows to a task that was not captured, or got them from one",
        "the task, or its operator",
    ),
    StopKind("outside", True, _LOST, "read a source that an uncaptured job changed during the DAG run", _PLACES),
    StopKind("files", False, _LOST, "wrote or read a dataset that does not match its captured versions", _PLACES),
    StopKind("driver", False, _LOST, "collected rows on its driver, and this query does not follow them", _PLACES),
    StopKind("driver-reads-off", False, _LOST, "ran without capture of what its driver read", _PLACES),
    StopKind("before-format-3", False, _LOST, "was stored by a version that did not record driver reads", _PLACES),
)
"""All kinds of stops; docs/stops.md describes them."""
_BY_NAME = {kind.name: kind for kind in STOPS}


def sentence(stop: Stop) -> str:
    """Return what a stop means: the step, the dataset that it wrote or that its driver read, and why."""
    made = "which read" if is_driver(Dataset.parse(stop.dataset)) else "which wrote"
    return f"step {stop.step}, {made} {stop.dataset}, {stop_kind(stop.what).wording}: {stop.why}"


def stop_kind(what: Blur) -> StopKind:
    """Return a kind of stop by its name."""
    return _BY_NAME[what]
