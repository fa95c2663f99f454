"""What the API answers from: a store or catalogue, looked at again every few seconds, cut to what a user may see."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from provspark.api import Provenance
from provspark.index_store.query.links import Linker
from provspark.web.policy import Policy
from provspark.web.scope import Scope

__all__ = ["Source"]

_FRESH = 5.0
_SCOPES = 64


class Source:
    """Opens on first use, so that a store that is not there yet is no reason not to start.

    Parameters
    ----------
    url : callable returning str
        The store's or the catalogue's URL; may raise `SettingsError`.
    policy : Policy
    """

    def __init__(self, url: Callable[[], str], policy: Policy) -> None:
        self.url, self.policy = url, policy
        self._prov: Provenance | None = None
        self._scopes: dict[frozenset[str] | None, Scope] = {}
        self._looked = 0.0
        self._lock = Lock()

    def scope(self, dags: frozenset[str] | None) -> Scope:
        """What a user may see.

        Parameters
        ----------
        dags : frozenset of str or None
            Steps of these DAGs and no others; None for all steps.
        """
        with self._lock:
            whole = self._whole()
            if dags is not None:
                dags &= {m.key.dag_id for m in whole.graph.manifests if m.key.dag_id}
            found = self._scopes.get(dags)
            if found is None:
                while len(self._scopes) >= _SCOPES:
                    del self._scopes[next(iter(self._scopes))]
                found = self._scopes[dags] = Scope(self._linker, whole, dags, self.policy)
            return found

    def _whole(self) -> Provenance:
        now = time.monotonic()
        if self._prov is None:
            self._prov = Provenance(self.url())
            self._linker = Linker(self._prov.graph)
        elif now - self._looked > _FRESH:
            before = self._prov.graph.manifests
            self._prov.refresh()
            if self._prov.graph.manifests != before:
                self._scopes.clear()
                self._linker = Linker(self._prov.graph)
        else:
            return self._prov
        self._looked = now
        return self._prov
