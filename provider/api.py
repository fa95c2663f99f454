"""Query API: open a store or a catalogue, and query where rows came from and what was derived from them.

>>> import provspark
>>> prov = provspark.open("file:///data/prov")                      # doctest: +SKIP
>>> prov.backward("file:///data/out", rows=[17])                    # doctest: +SKIP
"""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Callable, Collection
from copy import copy
from typing import TYPE_CHECKING

from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.answer import (
    Answer,
    End,
    ends_of,
    gone_of,
    possible_of,
    stops_of,
    trusted_of,
    versions_of,
)
from provspark.index_store.query.asking import Which
from provspark.index_store.query.current_versions import VersionUsed
from provspark.index_store.query.dataset_relation import Correspondence
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.explanations import Explanations
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.graph import Graph
from provspark.index_store.query.questions.backward import backward
from provspark.index_store.query.questions.cell_neighbourhood import cell_neighbourhood
from provspark.index_store.query.questions.cells import cells
from provspark.index_store.query.questions.co_contributory import co_contributory
from provspark.index_store.query.questions.co_dependency import co_dependency
from provspark.index_store.query.questions.columns import columns
from provspark.index_store.query.questions.composition import composition
from provspark.index_store.query.questions.correspondence import correspondence
from provspark.index_store.query.questions.datasets import datasets
from provspark.index_store.query.questions.derivations import derivations
from provspark.index_store.query.questions.dropped import dropped
from provspark.index_store.query.questions.first_difference import first_difference
from provspark.index_store.query.questions.forward import forward
from provspark.index_store.query.questions.how import how
from provspark.index_store.query.questions.impact import impact
from provspark.index_store.query.questions.locate import locate
from provspark.index_store.query.questions.neighbourhood import neighbourhood
from provspark.index_store.query.questions.operations import operations
from provspark.index_store.query.questions.profile import profile
from provspark.index_store.query.questions.select import select
from provspark.index_store.query.questions.steps import steps
from provspark.index_store.query.questions.trace import trace
from provspark.index_store.query.questions.unfinished import unfinished
from provspark.index_store.query.questions.values import values
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.trace import Trace
from provspark.index_store.query.trust import Trusted
from provspark.index_store.query.views import Views
from provspark.index_store.store.broken_steps import Broken
from provspark.model.steps import Manifest
from provspark.model.stops import Stop
from provspark.renamed import RenamedQuestions, renamed
from provspark.replay.questions.co_contributory_lines import co_contributory_lines
from provspark.replay.questions.co_dependency_lines import co_dependency_lines
from provspark.replay.questions.counts import counts
from provspark.replay.questions.history import history
from provspark.replay.questions.history_pages import history_pages
from provspark.replay.questions.operation_profiles import operation_profiles
from provspark.replay.questions.replay import replay
from provspark.replay.questions.why_not import why_not
from provspark.replay.questions.why_not_pages import why_not_pages
from provspark.replay.replaying import Replaying
from provspark.stores import location, open_stores, source, uncollected

if TYPE_CHECKING:
    from provspark.index_store.store.store import Store

__all__ = [
    "Answer",
    "Broken",
    "Correspondence",
    "Derivations",
    "End",
    "Explanations",
    "Gone",
    "Impact",
    "Located",
    "Profile",
    "Provenance",
    "RowSet",
    "Stop",
    "Trace",
    "Trusted",
    "VersionUsed",
    "ends_of",
    "gone_of",
    "open",
    "possible_of",
    "stops_of",
    "trusted_of",
    "versions_of",
]

_log = logging.getLogger(__name__)


def __getattr__(name: str) -> type[Explanations]:
    if name != "How":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("How goes with the next release: it is called Explanations now", DeprecationWarning, stacklevel=2)
    return Explanations


def open(url: str | os.PathLike[str]) -> Provenance:
    """Open a store, or all stores that a catalogue lists.

    Parameters
    ----------
    url : str or path
        The folder of a store (``/data/prov``, ``file:///data/prov``, ``s3://bucket/prov``), or the SQLAlchemy URL of a
        catalogue (``sqlite:////data/catalogue.db``, ``postgresql+psycopg2://…``).

    Raises
    ------
    StoreUnreachableError, StoreFormatError, CatalogueError, ArgumentError
    """
    return Provenance(url)


class Provenance(Replaying):
    """An open store or catalogue, which you query for lineage.

    Answers cover the steps that were published when it was opened, or when you last called `refresh`.

    The parameters that questions share:
    """

    def __init__(self, url: str | os.PathLike[str], *, relative: bool = True) -> None:
        self.url = location(url)
        self._stores: dict[str, Store] = {}
        self._keep: Callable[[Manifest], bool] | None = None
        self._keep_broken: Callable[[Broken], bool] = lambda _: True
        self._whole = Graph((), relative=relative)
        self._use(self._whole)
        self.refresh()

    def __repr__(self) -> str:
        return f"provspark.open({self.url!r})"

    def refresh(self) -> None:
        """Load the steps that were published since the store was opened or last refreshed.

        A step that can't be read, or one of several stores of a catalogue, is logged once and listed in `broken`.
        Answers cover the others.

        Raises
        ------
        StoreUnreachableError, StoreFormatError, CatalogueError
        """
        with uncollected():
            named = source(self.url)
            opened = open_stores(named.stores, self._stores)
            renewed = self._whole.renewed(opened.stores.values(), opened.broken, named.declarations)
            self._stores = opened.stores
            if renewed is not self._whole:
                fresh = [b for b in renewed.broken if b not in self._whole.broken]
                self._whole = renewed
                self._use(renewed)
                for broken in fresh:
                    _log.warning("%s Answers leave it out.", broken)

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Steps, and stores of a catalogue, that can't be read. Answers leave them out."""
        return self.graph.broken

    def restricted(
        self, keep: Callable[[Manifest], bool], broken: Callable[[Broken], bool] = lambda _: False
    ) -> Provenance:
        """Return a view in which only the steps that `keep` returns true for exist.

        Its answers contain nothing of the other steps: no names, counts or reasons. Paths end at files that these made
        or read. Steps that can't be read are listed if `broken` returns true for them.
        """
        out = copy(self)
        out._keep = keep if self._keep is None else lambda m, own=self._keep: own(m) and keep(m)
        own_broken = self._keep_broken
        out._keep_broken = lambda b: own_broken(b) and broken(b)
        out._use(self.graph)
        return out

    def _use(self, graph: Graph) -> None:
        self._views = Views(graph if self._keep is None else graph.restricted(self._keep, self._keep_broken))
        self._trusted = set()

    @property
    def ask(self) -> RenamedQuestions:
        """The questions under the names of the last release. Call them on `Provenance` itself instead."""
        return RenamedQuestions(self)

    def stores(self) -> Collection[Store]:
        """Return the open stores; none for a restricted view."""
        return self._stores.values() if self._keep is None else ()

    datasets = datasets
    steps = steps
    unfinished = unfinished
    select = select
    locate = locate
    values = values

    backward = backward
    forward = forward
    trace = trace
    how = how

    co_contributory = co_contributory
    co_dependency = co_dependency
    composition = composition
    correspondence = correspondence
    derivations = derivations
    first_difference = first_difference

    columns = columns
    cells = cells
    operations = operations
    dropped = dropped

    neighbourhood = neighbourhood
    cell_neighbourhood = cell_neighbourhood

    profile = profile
    impact = impact
    operation_profiles = operation_profiles

    replay = replay
    history = history
    history_pages = history_pages
    why_not = why_not
    why_not_pages = why_not_pages
    counts = counts

    co_contributory_lines = co_contributory_lines
    co_dependency_lines = co_dependency_lines

    before_after = renamed("before_after")


_SHARED = (inspect.getdoc(Which) or "").partition("\n\n")[2]
Provenance.__doc__ = f"{inspect.getdoc(Provenance)}\n\n{_SHARED}"
