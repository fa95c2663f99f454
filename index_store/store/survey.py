"""Result of a survey of a store."""

from __future__ import annotations

from dataclasses import dataclass

from provspark.index_store.store.broken_steps import Broken
from provspark.model.steps import Manifest

__all__ = ["Survey"]


@dataclass(frozen=True, slots=True)
class Survey:
    """Manifests by the time their steps ended, and the steps with an unreadable manifest, by id."""

    manifests: list[Manifest]
    broken: list[Broken]
