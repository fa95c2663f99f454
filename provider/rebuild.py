"""Rebuild a catalogue from what lasts: files of OpenLineage events, or the stores' manifests."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from provspark.airflow.events import events_from_store, read_events
from provspark.index_store.catalogue import Catalogue

__all__ = ["rebuild_from_events", "rebuild_from_stores"]


def rebuild_from_events(catalogue: Catalogue, paths: Iterable[str | Path]) -> int:
    """`Catalogue.rebuild` from files of OpenLineage's file transport; see `provspark.airflow.events.read_events`."""
    return catalogue.rebuild(chain.from_iterable(map(read_events, paths)))


def rebuild_from_stores(catalogue: Catalogue, urls: Iterable[str]) -> int:
    """`Catalogue.rebuild` from the manifests of stores."""
    return catalogue.rebuild(chain.from_iterable(map(events_from_store, urls)))
