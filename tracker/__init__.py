"""Record-level lineage capture for unmodified Spark. Needs neither Airflow nor a database."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from provspark.tracker.attachment import Capture as Capture
    from provspark.tracker.attachment import attach as attach

__all__ = ["Capture", "attach"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("provspark.tracker.attachment"), name)
    raise AttributeError(f"module 'provspark.tracker' has no attribute {name!r}")
