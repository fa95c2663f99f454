"""Links from writers to readers: by shared files, or by equal versions if a file list is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    distinct,
    func,
    literal,
    not_,
    or_,
    select,
)

from provspark.index_store.catalogue import schema
from provspark.index_store.catalogue.records import StepLink, StepRef
from provspark.model.datasets import Dataset

_written = schema.written_file.alias("written")
_held = schema.version_file.alias("held")
_output = schema.use.alias("output_use")
_input = schema.use.alias("input_use")
_same = schema.version.alias("same")
_CHUNK = 500

_Row = tuple[int, int, int, int, int]
_Ends = tuple[int, int, int, int]
_BY_ID = -1


def find_links(
    connection: Connection, producers: Iterable[int] | None = None, consumers: Iterable[int] | None = None
) -> list[tuple[int, int, StepLink]]:
    """Find links as (producer's row id, consumer's row id, link), sorted: all, or those of the given row ids."""
    pairs: dict[_Ends, int] = {}
    for query, producer, consumer in (
        (_by_id(), _output.c.step_id, _input.c.step_id),
        (_by_files(), _written.c.step_id, _input.c.step_id),
    ):
        for limited in _limit(_limit([query], producer, producers), consumer, consumers):
            for a, output, b, input_, files in connection.execute(limited):
                pairs[a, output, b, input_] = files
    return _named(connection, pairs)


def _by_files() -> Select[_Row]:
    """Select steps that read a file that another step wrote, even if others appended files or only a part was read."""
    ends = (_written.c.step_id, _written.c.version_id, _input.c.step_id, _input.c.version_id)
    return (
        select(*ends, func.count(distinct(_written.c.digest)))
        .select_from(_written)
        .join(_held, _held.c.digest == _written.c.digest)
        .join(_input, and_(_input.c.version_id == _held.c.version_id, _input.c.role == "input"))
        .group_by(*ends)
    )


def _by_id() -> Select[_Row]:
    """Select steps that read exactly the version that another wrote, except versions without files."""
    unknown = or_(not_(_output.c.files_read), not_(_same.c.files_read))
    has_files = or_(_same.c.files > 0, and_(_same.c.files.is_(None), _output.c.rows > 0))
    ends = (_output.c.step_id, _output.c.version_id, _input.c.step_id, _input.c.version_id)
    return (
        select(*ends, literal(_BY_ID))
        .distinct()
        .select_from(_output)
        .join(_input, _input.c.version_id == _output.c.version_id)
        .join(_same, _same.c.id == _output.c.version_id)
        .where(_output.c.role == "output", _input.c.role == "input", unknown, has_files)
    )


def _limit(queries: Iterable[Select[Any]], column: ColumnElement[int], ids: Iterable[int] | None) -> list[Select[Any]]:
    if ids is None:
        return list(queries)
    wanted = sorted(ids)
    chunks = [wanted[i : i + _CHUNK] for i in range(0, len(wanted), _CHUNK)]
    return [query.where(column.in_(chunk)) for query in queries for chunk in chunks]


def _named(connection: Connection, pairs: dict[_Ends, int]) -> list[tuple[int, int, StepLink]]:
    steps = _steps(connection, {i for a, _, b, _ in pairs for i in (a, b)})
    versions = _versions(connection, {i for _, a, _, b in pairs for i in (a, b)})
    links = []
    for (a, output, b, input_), files in pairs.items():
        (left, left_dataset), (right, right_dataset) = versions[output], versions[input_]
        shared = None if files == _BY_ID else files
        links.append((a, b, StepLink(steps[a], left, left_dataset, steps[b], right, right_dataset, shared)))
    return sorted(links, key=lambda entry: (entry[2].producer, entry[2].consumer, entry[2].output, entry[2].input))


def _steps(connection: Connection, ids: set[int]) -> dict[int, StepRef]:
    query = select(schema.step.c.id, schema.store.c.url, schema.step.c.name).join(schema.store)
    return {row.id: StepRef(row.url, row.name) for row in _lookup(connection, query, schema.step.c.id, ids)}


def _versions(connection: Connection, ids: set[int]) -> dict[int, tuple[str, Dataset]]:
    d, v = schema.dataset.c, schema.version.c
    query = select(v.id, v.key, d.namespace, d.name).select_from(schema.version.join(schema.dataset))
    rows = _lookup(connection, query, v.id, ids)
    return {row.id: (row.key, Dataset(row.namespace, row.name)) for row in rows}


def _lookup(
    connection: Connection, query: Select[Any], column: ColumnElement[int], ids: set[int]
) -> Iterator[Row[Any]]:
    for limited in _limit([query], column, ids):
        yield from connection.execute(limited)
