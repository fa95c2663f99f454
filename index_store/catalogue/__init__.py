"""The catalogue: which steps read and wrote which versions, and the links between steps. It has no row ids."""

from __future__ import annotations

from provspark.index_store.catalogue.catalogue import Catalogue
from provspark.index_store.catalogue.records import Ingested, StepLink, StepRecord, StepRef, VersionRecord

__all__ = ["Catalogue", "Ingested", "StepLink", "StepRecord", "StepRef", "VersionRecord"]
