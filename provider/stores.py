"""From a URL to the stores behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provspark.index_store.store import Store

__all__ = ["open_store", "store_urls"]


def store_urls(url: str) -> list[str]:
    """Name a store itself, or all stores that a catalogue knows."""
    scheme = url.split(":", 1)[0].split("+", 1)[0]
    if scheme in ("sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle") and ":" in url:
        from provspark.index_store.catalogue import Catalogue

        with Catalogue.open(url) as catalogue:
            return catalogue.stores()
    return [url]


def open_store(url: str) -> Store:
    """Open a store."""
    from provspark.index_store.store import Store

    return Store.open(url)
