"""From a URL to the stores behind it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from provspark.errors import ArgumentError

if TYPE_CHECKING:
    from provspark.index_store.store import Store

__all__ = ["location", "open_store", "store_urls", "uncollected"]


def location(url: str | os.PathLike[str]) -> str:
    """A store or catalogue as text; ArgumentError for what names none."""
    if not isinstance(url, (str, os.PathLike)):
        raise ArgumentError(f"a store is named by its folder or URL, a catalogue by its URL; found {url!r}")
    return os.fspath(url)


def store_urls(url: str) -> list[str]:
    """Name a store itself, or all stores that a catalogue knows."""
    scheme = url.split(":", 1)[0].split("+", 1)[0]
    if scheme in ("sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle") and ":" in url:
        from provspark.index_store.catalogue import Catalogue

        with Catalogue.open(url, migrate=False) as catalogue:
            return catalogue.stores()
    return [url]


@contextmanager
def uncollected() -> Iterator[None]:
    """No cyclic garbage is looked for meanwhile: it takes half of the time, and manifests stay."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def open_store(url: str) -> Store:
    """Open a store."""
    from provspark.index_store.store import Store

    return Store.open(url)
