"""Queries behind the methods of `Catalogue`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Table, inspect, select

from provspark.index_store.catalogue import schema
from provspark.index_store.catalogue.ingest import stored_state
from provspark.index_store.catalogue.links import find_links
from provspark.index_store.catalogue.records import StepRecord, StepRef, VersionRecord, VersionRole
from provspark.model.datasets import Dataset
from provspark.model.declarations import Declaration


def stores(connection: Connection) -> list[str]:
    """Return the URLs of the stores, sorted."""
    return sorted(connection.scalars(select(schema.store.c.url)))


def datasets(connection: Connection) -> list[Dataset]:
    """Return the datasets, sorted."""
    query = select(schema.dataset.c.namespace, schema.dataset.c.name)
    return sorted(Dataset(*row) for row in connection.execute(query))


def steps(connection: Connection) -> dict[int, StepRecord]:
    """Return the steps by row id, in the order of their start."""
    query = select(schema.step, schema.store.c.url).join(schema.store)
    rows = [(row.id, StepRef(row.url, row.name), stored_state(row)) for row in connection.execute(query)]
    rows.sort(key=lambda row: (row[2].started or row[2].ended, row[1]))
    last: dict[tuple[str, str, str, str, int, str], tuple[int, int, int]] = {}
    for id_, ref, state in rows:
        if state.key is not None and state.status == "succeeded":
            k = state.key
            task = (ref.store, k.dag_id, k.run_id, k.task_id, k.map_index, k.call)
            last[task] = max(last.get(task, (-1, -1, -1)), (k.try_number, k.attempt, id_))
    answering = {id_ for *_, id_ in last.values()}
    return {
        id_: StepRecord(
            ref,
            state.key,
            state.status,
            state.started,
            state.ended,
            state.untracked,
            # Without a key, tries can't be told apart.
            id_ in answering or (state.key is None and state.status == "succeeded"),
        )
        for id_, ref, state in rows
    }


def step_ids(connection: Connection, name: str, url: str | None) -> list[int]:
    """Return the row ids of the steps with this name, in one store or all."""
    s = schema.step.c
    query = select(s.id).join(schema.store).where(s.name == name)
    if url is not None:
        query = query.where(schema.store.c.url == url)
    return sorted(connection.scalars(query))


def versions(
    connection: Connection, dataset: Dataset | None = None, step: str | None = None, role: VersionRole | None = None
) -> list[VersionRecord]:
    """Return uses of versions, in the order of their steps."""
    d, v, u, s = schema.dataset.c, schema.version.c, schema.use.c, schema.step.c
    query = (
        select(schema.use, v.key, v.files, d.namespace, d.name)
        .add_columns(s.name.label("step"), s.started, s.ended, schema.store.c.url)
        .select_from(schema.use.join(schema.version).join(schema.dataset))
        .join(schema.step, s.id == u.step_id)
        .join(schema.store)
    )
    if dataset is not None:
        query = query.where(d.namespace == dataset.namespace, d.name == dataset.name)
    if step is not None:
        query = query.where(s.name == step)
    if role is not None:
        query = query.where(u.role == role)
    records = []
    for row in connection.execute(query):
        ref, named = StepRef(row.url, row.step), Dataset(row.namespace, row.name)
        record = VersionRecord(
            named, row.key, ref, row.role, row.rows, row.files, row.coverage, row.files_read, row.unit
        )
        started = row.started or row.ended or ""
        records.append(((started, ref, row.role, named, row.key, row.rows, row.coverage, row.unit), record))
    return [record for _, record in sorted(records, key=lambda entry: entry[0])]


def declarations(connection: Connection) -> list[Declaration]:
    """Return the declarations of runs without capture, by the time of their last event; none before schema 0003."""
    if not inspect(connection).has_table(schema.foreign.name):
        return []
    named: dict[tuple[int, str], list[Dataset]] = {}
    for foreign_id, role, *name in connection.execute(select(schema.foreign_dataset)):
        named.setdefault((foreign_id, role), []).append(Dataset(*name))
    declared = []
    for id_, namespace, name, run, first, last, *task in connection.execute(select(schema.foreign)):
        inputs, outputs = (tuple(sorted(named.get((id_, role), ()))) for role in ("input", "output"))
        declared.append(Declaration(namespace, name, run, first, last, inputs, outputs, *task))
    return sorted(declared, key=lambda said: (said.last, said))


def dump(connection: Connection) -> dict[str, Any]:
    """Return all content except row ids."""
    return {
        "stores": stores(connection),
        "steps": [asdict(step) for step in steps(connection).values()],
        "versions": [asdict(version) for version in versions(connection)],
        "files": _files(connection, schema.version_file),
        "written": _files(connection, schema.written_file),
        "declarations": [asdict(said) for said in declarations(connection)],
        "links": [asdict(link) for _, _, link in find_links(connection)],
    }


def _files(connection: Connection, table: Table) -> dict[str, list[str]]:
    """Return digests of files by dataset and version, and also by step if the table has one."""
    d, v, s = schema.dataset.c, schema.version.c, schema.step.c
    query = select(table.c.digest, v.key, d.namespace, d.name).select_from(
        table.join(schema.version, v.id == table.c.version_id).join(schema.dataset)
    )
    if "step_id" in table.c:
        query = query.join(schema.step, s.id == table.c.step_id).join(schema.store)
        query = query.add_columns(schema.store.c.url, s.name)
    digests: dict[str, list[str]] = {}
    for digest, *names in connection.execute(query):
        digests.setdefault(" ".join(names), []).append(digest.hex())
    return {names: sorted(digests[names]) for names in sorted(digests)}
