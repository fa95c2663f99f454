"""Rebuild a catalogue from files of OpenLineage events, or from the manifests of stores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from provspark.airflow.events import events_from_store, read_events
from provspark.index_store.catalogue import Catalogue

__all__ = ["rebuild_from_events", "rebuild_from_stores"]


def rebuild_from_events(catalogue: Catalogue, paths: Iterable[str | Path]) -> int:
    """Rebuild a catalogue from files of OpenLineage's file transport, and return what `Catalogue.rebuild` returns.

    `paths` are those of `provspark.airflow.events.read_events`.
    """
    return catalogue.rebuild(chain.from_iterable(map(read_events, paths)))


def rebuild_from_stores(catalogue: Catalogue, urls: Iterable[str]) -> int:
    """Rebuild a catalogue from the manifests of stores, and return what `Catalogue.rebuild` returns."""
    return catalogue.rebuild(chain.from_iterable(map(events_from_store, urls)))
