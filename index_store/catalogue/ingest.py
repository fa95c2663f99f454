"""Writing of one event's facts to the tables, in the caller's transaction.

Writers on PostgreSQL run in parallel. They access rows in one order (store, step, then sorted datasets with their
versions), so that no two wait for each other, and leave existing rows unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, Select, Table, Update, and_, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from provspark.index_store.catalogue import schema
from provspark.index_store.catalogue.facts import Facts, VersionUse
from provspark.index_store.catalogue.files import FileDigests
from provspark.index_store.catalogue.records import StepRef
from provspark.index_store.catalogue.state import StepState
from provspark.model.declarations import Declaration
from provspark.model.steps import StepKey

_CHUNK = 1000

# Statements are built once: building one takes SQLAlchemy as long as running it.
_STEP = select(schema.step).where(schema.step.c.id == bindparam("of")).with_for_update()
_FOREIGN = select(schema.foreign).where(schema.foreign.c.id == bindparam("of")).with_for_update()
_JOINED = update(schema.foreign).where(schema.foreign.c.id == bindparam("of"))
_CHANGED = update(schema.step).where(schema.step.c.id == bindparam("of"))
_COUNTED = (
    update(schema.version)
    .where(schema.version.c.id == bindparam("of"), schema.version.c.files.is_(None))
    .values(files=bindparam("number"))
)
_READ = (
    select(
        schema.dataset.c.namespace,
        schema.dataset.c.name,
        schema.version.c.key,
        schema.use.c.role,
        schema.use.c.rows,
        schema.use.c.coverage,
        schema.use.c.unit,
    )
    .select_from(schema.use.join(schema.version).join(schema.dataset))
    .join(schema.step, schema.step.c.id == schema.use.c.step_id)
    .join(schema.store)
    .where(schema.store.c.url == bindparam("store"), schema.step.c.name == bindparam("step"), schema.use.c.files_read)
)


def write_facts(connection: Connection, facts: Facts, files: Mapping[VersionUse, FileDigests]) -> StepState:
    """Merge the facts of one event into the tables; return the step's state after it."""
    step_id, state = _step(connection, facts.ref, facts.state)
    for use in facts.uses:
        _use(connection, step_id, use, files.get(use))
    return state


def write_declaration(connection: Connection, said: Declaration) -> None:
    """Merge an event of a run without capture into what the run's other events declared, in any order."""
    key = {"namespace": said.namespace, "name": said.name, "run": said.run}
    known = {"first": said.first, "last": said.last, **_task(said)}
    id_ = _id(connection, schema.foreign, key, known)
    before = connection.execute(_FOREIGN, {"of": id_}).one()._mapping
    task = max(_task(said), {name: before[name] for name in _task(said)}, key=lambda t: tuple(t.values()))
    after = {"first": min(said.first, before["first"]), "last": max(said.last, before["last"]), **task}
    if any(after[name] != before[name] for name in after):
        connection.execute(_JOINED, {"of": id_} | after)
    rows = [
        {"foreign_id": id_, "role": role, "namespace": dataset.namespace, "name": dataset.name}
        for role, datasets in (("input", said.inputs), ("output", said.outputs))
        for dataset in datasets
    ]
    _add(connection, schema.foreign_dataset, rows)


def _task(said: Declaration) -> dict[str, str]:
    return {"dag_id": said.dag_id, "task_id": said.task_id, "dag_run": said.dag_run}


def unread_uses(connection: Connection, facts: Facts) -> list[VersionUse]:
    """Return the uses whose file lists are not in the catalogue yet."""
    if not facts.uses:
        return []
    rows = connection.execute(_READ, {"store": facts.ref.store, "step": facts.ref.step})
    read = {tuple(row) for row in rows}
    return [
        use
        for use in facts.uses
        if use.files != 0
        and (use.dataset.namespace, use.dataset.name, use.version, use.role, use.rows, use.coverage, use.unit)
        not in read
    ]


def stored_state(row: Any) -> StepState:
    """Return a row of the step table as a state."""
    key = None
    if row.task_id is not None:
        key = StepKey(row.task_id, row.run_id, row.dag_id, row.map_index, row.try_number, row.attempt, row.call)
    return StepState(key, row.status, row.published, row.started or "", row.ended or "", row.untracked)


def _step(connection: Connection, ref: StepRef, state: StepState) -> tuple[int, StepState]:
    store_id = _id(connection, schema.store, {"url": ref.store})
    step_id = _id(connection, schema.step, {"store_id": store_id, "name": ref.step}, _columns(state))
    before = stored_state(connection.execute(_STEP, {"of": step_id}).one())
    after = before.merge(state)
    if after != before:
        connection.execute(_CHANGED, {"of": step_id} | _columns(after))
    return step_id, after


def _columns(state: StepState) -> dict[str, Any]:
    names = ("dag_id", "run_id", "task_id", "map_index", "try_number", "attempt", "call")
    return {
        **{name: getattr(state.key, name, None) for name in names},
        "status": state.status,
        "published": state.published,
        "started": state.started or None,
        "ended": state.ended or None,
        "untracked": state.untracked,
    }


def _use(connection: Connection, step_id: int, use: VersionUse, files: FileDigests | None) -> None:
    names = {"namespace": use.dataset.namespace, "name": use.dataset.name}
    dataset_id = _id(connection, schema.dataset, names)
    version_id = _id(
        connection,
        schema.version,
        {"dataset_id": dataset_id, "key": use.version},
        {"files": None, "files_read": False},
    )
    use_id = _id(
        connection,
        schema.use,
        {
            "step_id": step_id,
            "version_id": version_id,
            "role": use.role,
            "rows": use.rows,
            "coverage": use.coverage,
            "unit": use.unit,
        },
        {"files_read": False},
    )
    if use.files >= 0:
        connection.execute(_COUNTED, {"of": version_id, "number": use.files})
    if files is None and use.files != 0:
        return
    if files is not None:
        of_version = {"version_id": version_id}
        _add(connection, schema.version_file, [of_version | {"digest": d} for d in files.all])
        if use.role == "output":
            of_step = of_version | {"step_id": step_id}
            _add(connection, schema.written_file, [of_step | {"digest": d} for d in files.written])
    connection.execute(_now_read(schema.version), {"of": version_id})
    connection.execute(_now_read(schema.use), {"of": use_id})


def _id(connection: Connection, table: Table, key: dict[str, Any], rest: dict[str, Any] | None = None) -> int:
    """Return the id of the row with this unique key; insert the row if it is missing."""
    query = _by_key(table, tuple(key))
    id_: int | None = connection.scalar(query, key)
    if id_ is None:
        _add(connection, table, [key | (rest or {})])
        id_ = connection.execute(query, key).scalar_one()
    return id_


def _add(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows that do not exist yet."""
    statement = _insert(table, connection.dialect.name)
    for start in range(0, len(rows), _CHUNK):
        connection.execute(statement, rows[start : start + _CHUNK])


@cache
def _now_read(table: Table) -> Update:
    return update(table).where(table.c.id == bindparam("of"), ~table.c.files_read).values(files_read=True)


@cache
def _by_key(table: Table, names: tuple[str, ...]) -> Select[Any]:
    return select(table.c.id).where(and_(*(table.c[name] == bindparam(name) for name in names)))


@cache
def _insert(table: Table, dialect: str) -> Insert:
    kind = postgresql if dialect == "postgresql" else sqlite
    made: Insert = kind.insert(table).on_conflict_do_nothing()
    return made
