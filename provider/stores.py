"""Open the stores that a URL refers to."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provspark.model.errors import (
    ArgumentError,
    CorruptIndexError,
    ProvSparkError,
    StoreFormatError,
    StoreMissingError,
    StoreUnreachableError,
)

if TYPE_CHECKING:
    from provspark.index_store.store.broken_steps import Broken
    from provspark.index_store.store.store import Store
    from provspark.model.declarations import Declaration

__all__ = ["OpenedStores", "StoreSource", "location", "open_stores", "source", "uncollected"]


def location(url: str | os.PathLike[str]) -> str:
    """Return the URL or path of a store or catalogue as a string; raise ArgumentError for other types."""
    if not isinstance(url, (str, os.PathLike)):
        raise ArgumentError(f"a store is named by its folder or URL, a catalogue by its URL; found {url!r}")
    return os.fspath(url)


@dataclass(frozen=True, slots=True)
class StoreSource:
    """Stores that a URL refers to, and a catalogue's declarations of jobs without capture."""

    stores: list[str]
    declarations: tuple[Declaration, ...] = ()


def is_catalogue(url: str) -> bool:
    """Return whether a URL is that of a database."""
    scheme = url.split(":", 1)[0].split("+", 1)[0]
    return scheme in ("sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle") and ":" in url


def source(url: str) -> StoreSource:
    """Return the store at a URL, or all stores of the catalogue at a URL."""
    if is_catalogue(url):
        from provspark.index_store.catalogue import Catalogue

        with Catalogue.open(url, migrate=False, older=True) as catalogue:
            return StoreSource(catalogue.stores(), tuple(catalogue.declarations()))
    return StoreSource([url])


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector: it would take half of the time, and manifests are kept anyway."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


@dataclass(frozen=True, slots=True)
class OpenedStores:
    """Opened stores by URL, and stores that can't be opened."""

    stores: dict[str, Store]
    broken: tuple[Broken, ...]


def open_stores(urls: Iterable[str], known: Mapping[str, Store]) -> OpenedStores:
    """Open stores, except those in `known`.

    An empty folder counts as a store without steps and is left out. A store that can't be opened is listed in `broken`,
    unless all of them fail.

    Raises
    ------
    StoreUnreachableError, StoreFormatError, CorruptIndexError
        None of the stores can be opened.
    """
    from provspark.index_store.store.broken_steps import broken_store
    from provspark.index_store.store.store import Store

    urls = list(urls)
    stores: dict[str, Store] = {}
    failed: list[tuple[str, ProvSparkError]] = []
    for url in urls:
        try:
            stores[url] = known.get(url) or Store.open(url)
            if len(urls) > 1 and url in known:
                known[url].check()
        except StoreMissingError as e:
            if not e.empty:
                stores.pop(url, None)
                failed.append((url, e))
        except (StoreUnreachableError, StoreFormatError, CorruptIndexError) as e:
            stores.pop(url, None)
            failed.append((url, e))
    if failed and len(failed) == len(urls):
        raise failed[0][1]
    return OpenedStores(stores, tuple(broken_store(url, e) for url, e in failed))
