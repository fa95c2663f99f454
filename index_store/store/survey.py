"""What a look into a store finds."""

from __future__ import annotations

from dataclasses import dataclass

from provspark.index_store.store.broken_steps import Broken
from provspark.model.steps import Manifest

__all__ = ["Survey"]


@dataclass(frozen=True, slots=True)
class Survey:
    """Manifests by the time their steps ended, and the steps whose manifest can't be read, by their ids."""

    manifests: list[Manifest]
    broken: list[Broken]
