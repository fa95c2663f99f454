"""From a URL to the stores behind it."""

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
    """A store or catalogue as text; ArgumentError for what names none."""
    if not isinstance(url, (str, os.PathLike)):
        raise ArgumentError(f"a store is named by its folder or URL, a catalogue by its URL; found {url!r}")
    return os.fspath(url)


@dataclass(frozen=True, slots=True)
class StoreSource:
    """What a URL names: stores by their URLs, and what a catalogue keeps of jobs without capture."""

    stores: list[str]
    declarations: tuple[Declaration, ...] = ()


def source(url: str) -> StoreSource:
    """Name a store itself, or all stores that a catalogue knows."""
    scheme = url.split(":", 1)[0].split("+", 1)[0]
    if scheme in ("sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle") and ":" in url:
        from provspark.index_store.catalogue import Catalogue

        with Catalogue.open(url, migrate=False, older=True) as catalogue:
            return StoreSource(catalogue.stores(), tuple(catalogue.declarations()))
    return StoreSource([url])


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


@dataclass(frozen=True, slots=True)
class OpenedStores:
    """Stores by their URLs as given, and those that can't be opened though others can."""

    stores: dict[str, Store]
    broken: tuple[Broken, ...]


def open_stores(urls: Iterable[str], known: Mapping[str, Store]) -> OpenedStores:
    """Open stores, but for those that are known.

    A folder with nothing in it is a store without steps. Where one of several stores can't be read, it is named and
    the others open.

    Raises
    ------
    StoreUnreachableError, StoreFormatError, CorruptIndexError
        The only store, or each of several, can't be opened.
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
