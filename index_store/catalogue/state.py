"""How a step's state grows from events that come in any order, any number of times."""

from __future__ import annotations

from dataclasses import dataclass, replace

from provspark.index_store.catalogue.records import Status
from provspark.model.steps import StepKey

_RANK: dict[Status, int] = {"running": 0, "succeeded": 1, "failed": 2}


@dataclass(frozen=True, slots=True)
class StepState:
    """What is known of a step's course.

    `published` says that it is the manifest's word; without it, times and status are the events' own.
    """

    key: StepKey | None
    status: Status
    published: bool
    started: str
    ended: str
    untracked: bool = False

    def merge(self, other: StepState) -> StepState:
        """Join two states: commutative, associative and idempotent, so neither order nor repetition matters.

        The manifest's word wins over events'. Where two of one standing differ, the worse status, the
        earliest start and the latest end stay.
        """
        key = self.key or other.key
        if self.published != other.published:
            return replace(self if self.published else other, key=key)
        return StepState(
            key,
            max(self.status, other.status, key=_RANK.__getitem__),
            self.published,
            min(filter(None, (self.started, other.started)), default=""),
            max(self.ended, other.ended),
            self.untracked or other.untracked,
        )
