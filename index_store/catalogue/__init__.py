"""The catalogue: which steps read and wrote which versions, and how that links them. Never a row id."""

from __future__ import annotations

from provspark.index_store.catalogue.catalogue import Catalogue
from provspark.index_store.catalogue.records import Ingested, StepLink, StepRecord, StepRef, VersionRecord

__all__ = ["Catalogue", "Ingested", "StepLink", "StepRecord", "StepRef", "VersionRecord"]
