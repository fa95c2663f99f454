"""State of a step, merged from events that arrive in any order and repeatedly."""

from __future__ import annotations

from dataclasses import dataclass, replace

from provspark.index_store.catalogue.records import Status
from provspark.model.steps import StepKey

_RANK: dict[Status, int] = {"running": 0, "succeeded": 1, "failed": 2}


@dataclass(frozen=True, slots=True)
class StepState:
    """State of a step's run.

    `published` means that it comes from the manifest; otherwise times and status come from the events.
    """

    key: StepKey | None
    status: Status
    published: bool
    started: str
    ended: str
    untracked: bool = False

    def merge(self, other: StepState) -> StepState:
        """Merge two states. Merging is commutative, associative and idempotent: order and repetition do not matter.

        The manifest takes precedence over events. Of two states from equal sources, the worse status, the earliest
        start and the latest end win.
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
