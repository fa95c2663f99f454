"""The store or catalogue that the API reads: refreshed every few seconds, and limited to what a user may see."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from threading import Lock, Thread

from provspark.api import Provenance
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.links import Linker
from provspark.model.errors import ProvSparkError
from provspark.web.policy import Policy
from provspark.web.scope import UserScope
from provspark.web.visible import Visible

__all__ = ["AnswerSource"]

_FRESH = 5.0
_AT_ONCE = 0.1
"""If a refresh took longer (seconds), later ones run in the background, and requests use the previous state."""
_SCOPES = 64


class AnswerSource:
    """Store or catalogue, opened on first use: a server can start before its store exists.

    Parameters
    ----------
    url : callable returning str
        Returns the URL of the store or catalogue; may raise `SettingsError`.
    policy : Policy
    """

    def __init__(self, url: Callable[[], str], policy: Policy) -> None:
        self.url, self.policy = url, policy
        self._seen: _Snapshot | None = None
        self._looking: Thread | None = None
        self._trouble: ProvSparkError | None = None
        self._looked = self._took = 0.0
        self._lock = Lock()

    def scope(self, dags: frozenset[str] | None) -> UserScope:
        """Return what a user may see.

        Parameters
        ----------
        dags : frozenset of str or None
            DAGs whose steps the user may see; None for all steps.
        """
        with self._lock:
            return self._snapshot().scope(dags)

    @property
    def visible(self) -> Visible:
        """Masking rules for the last state of the store that was read."""
        seen = self._seen
        return _nothing(self.policy) if seen is None else seen.visible

    def check(self) -> None:
        """Check that every store is still reachable.

        Raises
        ------
        StoreUnreachableError
        """
        seen = self._seen
        for store in seen.prov.graph.stores if seen else ():
            store.check()

    def _snapshot(self) -> _Snapshot:
        since = time.monotonic() - self._looked
        if self._trouble is not None:
            # If the failure took long, for example because a host is down, don't let each request wait for it.
            if since < _FRESH and self._took >= _AT_ONCE:
                raise self._trouble.with_traceback(None)
            self._seen = self._look(self._seen)
        elif self._seen is None:
            self._seen = self._look(None)
        elif since > _FRESH and self._looking is None:
            if self._took < _AT_ONCE:
                self._seen = self._look(self._seen)
            else:
                self._looking = Thread(target=self._look_meanwhile, args=(self._seen,), daemon=True)
                self._looking.start()
        return self._seen

    def _look_meanwhile(self, seen: _Snapshot) -> None:
        try:
            with suppress(ProvSparkError):  # the next request raises it
                self._seen = self._look(seen)
        finally:
            self._looking = None

    def _look(self, seen: _Snapshot | None) -> _Snapshot:
        """Refresh; an error is raised again until a refresh succeeds."""
        began = time.monotonic()
        try:
            snapshot = (
                _Snapshot(Provenance(self.url(), relative=False), self.policy)
                if seen is None
                else _renewed(seen, self.policy)
            )
        except ProvSparkError as e:
            self._trouble = e
            raise
        else:
            self._trouble = None
            return snapshot
        finally:
            self._looked = time.monotonic()
            self._took = self._looked - began


def _renewed(seen: _Snapshot, policy: Policy) -> _Snapshot:
    prov = copy(seen.prov)
    prov.refresh()
    return seen if prov.graph is seen.prov.graph else _Snapshot(prov, policy)


def _nothing(policy: Policy) -> Visible:
    return Visible(policy, Linker(Graph(())))


class _Snapshot:
    """State of the store at one refresh, with the scopes of the users who asked."""

    def __init__(self, prov: Provenance, policy: Policy) -> None:
        self.prov, self._linker = prov, Linker(prov.graph)
        self.visible = Visible(policy, self._linker)
        keys = [m.key for m in (*prov.graph.manifests, *(n.manifest for n in prov.graph.nodes if n.declared))]
        keys += [b.key for b in prov.broken if b.key]
        self._dags = {key.dag_id for key in keys if key.dag_id}
        self._scopes: dict[frozenset[str] | None, UserScope] = {}

    def scope(self, dags: frozenset[str] | None) -> UserScope:
        """Return the scope of users who may read these DAGs."""
        dags = dags if dags is None else dags & self._dags
        scope = self._scopes.get(dags)
        if scope is None:
            while len(self._scopes) >= _SCOPES:
                del self._scopes[next(iter(self._scopes))]
            scope = self._scopes[dags] = UserScope(self._linker, self.prov, dags, self.visible)
        return scope
