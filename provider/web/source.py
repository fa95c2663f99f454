"""What the API answers from: a store or catalogue, looked at again every few seconds, cut to what a user may see."""

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
"""Where looking took longer (s), questions don't wait for it: they go on with what was seen before."""
_SCOPES = 64


class AnswerSource:
    """Opens on first use, so that a store that is not there yet is no reason not to start.

    Parameters
    ----------
    url : callable returning str
        The store's or the catalogue's URL; may raise `SettingsError`.
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
        """What a user may see.

        Parameters
        ----------
        dags : frozenset of str or None
            Steps of these DAGs and no others; None for all steps.
        """
        with self._lock:
            return self._snapshot().scope(dags)

    @property
    def visible(self) -> Visible:
        """What users may see, as far as the store was read."""
        seen = self._seen
        return _nothing(self.policy) if seen is None else seen.visible

    def check(self) -> None:
        """Check that every store still answers.

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
            # Where failing took long, as of a host that is down, not every question waits for it.
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
            with suppress(ProvSparkError):  # the next question raises it
                self._seen = self._look(seen)
        finally:
            self._looking = None

    def _look(self, seen: _Snapshot | None) -> _Snapshot:
        """Look again; what it raises is raised until a look succeeds."""
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
    """What was published when it was looked at, and what was made of it for each set of DAGs."""

    def __init__(self, prov: Provenance, policy: Policy) -> None:
        self.prov, self._linker = prov, Linker(prov.graph)
        self.visible = Visible(policy, self._linker)
        keys = [m.key for m in (*prov.graph.manifests, *(n.manifest for n in prov.graph.nodes if n.declared))]
        keys += [b.key for b in prov.broken if b.key]
        self._dags = {key.dag_id for key in keys if key.dag_id}
        self._scopes: dict[frozenset[str] | None, UserScope] = {}

    def scope(self, dags: frozenset[str] | None) -> UserScope:
        """What one may see who may read these DAGs."""
        dags = dags if dags is None else dags & self._dags
        scope = self._scopes.get(dags)
        if scope is None:
            while len(self._scopes) >= _SCOPES:
                del self._scopes[next(iter(self._scopes))]
            scope = self._scopes[dags] = UserScope(self._linker, self.prov, dags, self.visible)
        return scope
