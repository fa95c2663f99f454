"""The catalogue: `ingest` writes to it, the other methods return steps, versions and links."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, delete

from provspark.index_store.catalogue import schema
from provspark.index_store.catalogue import selects as reading
from provspark.index_store.catalogue.database import Database
from provspark.index_store.catalogue.facts import Facts, VersionUse, facts_of
from provspark.index_store.catalogue.files import FileDigests, FileSource, StoreFiles, digests
from provspark.index_store.catalogue.ingest import unread_uses, write_declaration, write_facts
from provspark.index_store.catalogue.links import find_links
from provspark.index_store.catalogue.migration import ensure_head
from provspark.index_store.catalogue.records import Ingested, StepLink, StepRecord, VersionRecord, VersionRole
from provspark.index_store.catalogue.urls import store_url
from provspark.model.datasets import Dataset
from provspark.model.declarations import Declaration
from provspark.model.errors import ProvSparkError, UnknownDatasetError, UnknownStepError

_log = logging.getLogger(__name__)


class Catalogue:
    """A database of stores, steps and versions, and of the links between steps. Use `Catalogue.open`, and close it.

    Any number of threads and processes may use one database at once.
    """

    def __init__(self, database: Database, files: FileSource) -> None:
        self._database = database
        self._files = files

    @classmethod
    def open(
        cls,
        url: str,
        *,
        migrate: bool = True,
        beside: bool = False,
        older: bool = False,
        files: FileSource | None = None,
    ) -> Catalogue:
        """Open a catalogue; create or migrate its tables if `migrate` is set.

        Parameters
        ----------
        url : str
            ``sqlite:////path/catalogue.db`` or ``postgresql://user:password@host/database``.
        migrate : bool
            False for read-only use: nothing is written.
        beside : bool
            Create tables even beside those of another application.
        older : bool
            Open a catalogue with an older schema unchanged; only `stores` and `declarations` work.
        files : callable, optional
            Source of file lists: takes step, version id and role, and returns `Files`. By default, the stores.

        Raises
        ------
        NoCatalogueError
            No catalogue exists and `migrate` is not set, or the database belongs to another application.
        CatalogueError
            The database does not answer, or its schema does not fit this version of the package.
        """
        database = Database(url)
        try:
            ensure_head(database, migrate, beside, older)
        except BaseException:
            database.close()
            raise
        return cls(database, files or StoreFiles())

    @property
    def where(self) -> str:
        """URL of the database, without its password."""
        return self._database.where

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ingest(self, event: Any) -> Ingested:
        """Store the content of one OpenLineage event, in one transaction.

        Events may arrive in any order and repeatedly: the result is the same. Of an event without ProvSpark's facet,
        the inputs and outputs of the job are kept (`declarations`); the event is ignored if it names no input, or no
        output.

        Parameters
        ----------
        event : dict, str, bytes or openlineage.client.event_v2.RunEvent

        Raises
        ------
        EventError
            Not an OpenLineage event, or ProvSpark's facet does not follow its schema.
        CatalogueError
            The database does not answer; nothing was stored.
        """
        facts = facts_of(event)
        if facts is None:
            return Ingested(None)
        if isinstance(facts, Declaration):
            with self._database.write() as connection:
                write_declaration(connection, facts)
            return Ingested(None, declared=True)
        with self._database.read() as connection:
            wanted = unread_uses(connection, facts)
        read, unread = self._read(facts, wanted)
        with self._database.write() as connection:
            state = write_facts(connection, facts, read)
        return Ingested(facts.ref, state.status, len(facts.uses), unread)

    def rebuild(self, events: Iterable[Any]) -> int:
        """Replace all content by that of these events, in one transaction; return how many had ProvSpark's facet.

        A failure keeps the old content. Readers see the old content until the end, writers wait. `provspark.rebuild`
        rebuilds a catalogue from files of events and from stores.

        Raises
        ------
        EventError, CatalogueError
            The errors of `ingest`, and whatever `events` raises.
        """
        taken = 0
        with self._database.write(alone=True) as connection:
            for table in reversed(schema.metadata.sorted_tables):
                connection.execute(delete(table))
            for event in events:
                taken += self._ingest_within(connection, event)
        return taken

    def stores(self) -> list[str]:
        """Return the URLs of the stores, sorted."""
        with self._database.read() as connection:
            return reading.stores(connection)

    def datasets(self) -> list[Dataset]:
        """Return all datasets that a step read or wrote, sorted."""
        with self._database.read() as connection:
            return reading.datasets(connection)

    def steps(self) -> list[StepRecord]:
        """Return all steps by start; `StepRecord.answers` marks the last successful try of each task instance."""
        with self._database.read() as connection:
            return list(reading.steps(connection).values())

    def versions(
        self, dataset: Dataset | str | None = None, *, step: str | None = None, role: VersionRole | None = None
    ) -> list[VersionRecord]:
        """Return versions as steps read or wrote them, by the start of the steps.

        Parameters
        ----------
        dataset : Dataset or str, optional
            Only versions of this dataset.
        step : str, optional
            Only versions that steps of this name used.
        role : {"input", "output"}, optional

        Raises
        ------
        UnknownDatasetError, UnknownStepError
        """
        with self._database.read() as connection:
            wanted = Dataset.parse(dataset) if isinstance(dataset, str) else dataset
            known = () if wanted is None else reading.datasets(connection)
            if wanted is not None and wanted not in known:
                wanted = wanted.resolved()
            if wanted is not None and wanted not in known:
                raise UnknownDatasetError(wanted.uri, [d.uri for d in known])
            if step is not None:
                self._find(connection, step, None)
            return reading.versions(connection, wanted, step, role)

    def declarations(self) -> list[Declaration]:
        """Return what jobs without capture declare as inputs and outputs, by the time of their last event."""
        with self._database.read() as connection:
            return reading.declarations(connection)

    def links(self) -> list[StepLink]:
        """Return all links, each from the writer of files to a reader."""
        with self._database.read() as connection:
            return [link for _, _, link in find_links(connection)]

    def upstream(self, step: str, *, store: str | None = None) -> list[StepRecord]:
        """Return the steps whose output a step read, directly or through others: nearest first, without the step.

        Raises
        ------
        UnknownStepError
        """
        return self._reach(step, store, against=True)

    def downstream(self, step: str, *, store: str | None = None) -> list[StepRecord]:
        """Return the steps that read a step's output, directly or through others: nearest first, without the step.

        Raises
        ------
        UnknownStepError
        """
        return self._reach(step, store, against=False)

    def dump(self) -> dict[str, Any]:
        """Return all content of the catalogue in a fixed order: equal catalogues have equal dumps."""
        with self._database.read() as connection:
            return reading.dump(connection)

    def _reach(self, step: str, store: str | None, against: bool) -> list[StepRecord]:
        with self._database.read() as connection:
            records = reading.steps(connection)
            seen = dict.fromkeys(self._find(connection, step, store))
            frontier, reached = list(seen), []
            while frontier:
                links = find_links(connection, **{"consumers" if against else "producers": frontier})
                near = dict.fromkeys(a if against else b for a, b, _ in links)
                frontier = [i for i in records if i in near and i not in seen]
                seen.update(dict.fromkeys(frontier))
                reached += [records[i] for i in frontier]
        return reached

    def _find(self, connection: Connection, step: str, store: str | None) -> list[int]:
        url = None if store is None else store_url(store)
        ids = reading.step_ids(connection, step, url)
        if not ids:
            known = [r.ref for r in reading.steps(connection).values()]
            raise UnknownStepError(step, [ref.step for ref in known if url in (None, ref.store)])
        return ids

    def _ingest_within(self, connection: Connection, event: Any) -> bool:
        facts = facts_of(event)
        if isinstance(facts, Declaration):
            write_declaration(connection, facts)
        if facts is None or isinstance(facts, Declaration):
            return False
        read, _ = self._read(facts, unread_uses(connection, facts))
        write_facts(connection, facts, read)
        return True

    def _read(self, facts: Facts, uses: Iterable[VersionUse]) -> tuple[dict[VersionUse, FileDigests], tuple[str, ...]]:
        """Read file lists; one that can't be read is no error, because equal version ids link, too."""
        read: dict[VersionUse, FileDigests] = {}
        unread = []
        for use in uses:
            try:
                files = self._files(facts.ref, use.version, use.role)
                if files.identity(use.dataset) != use.version:
                    raise ValueError("the file list in the store belongs to another dataset")
            except (ProvSparkError, OSError, LookupError, ValueError) as e:
                unread.append(f"{use.dataset} version {use.version}: {e}")
            else:
                read[use] = digests(use.dataset, files)
        if unread:
            _log.warning("step %s is linked by equal version ids only for %s", facts.ref.step, "; ".join(unread))
        return read, tuple(unread)
