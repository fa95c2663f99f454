"""Rows and cells in W3C PROV, as PROV-JSON (https://www.w3.org/submissions/prov-json/).

Versions and rows are entities, a version a collection of its rows, and writes are activities. A data edge is a
derivation, with the usage and generation that it is based on; a context edge is only a usage. A row that a write read
and dropped is invalidated by it. One record in two versions is two alternates. Cells, if included, are entities, too:
members of their row and of their column, which is a member of the version, and derived from cells in the same way.
`provspark.index_store.query.operation_activities` adds the operations of the writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from provspark.model.datasets import Version
from provspark.model.neighbours import CellEdge, CellNode, RowEdge, RowNode
from provspark.model.steps import Manifest
from provspark.model.times import utc
from provspark.model.writes import Write

__all__ = ["ProvDocument", "qualified"]

_PREFIX = {"ps": "urn:provspark:"}
_PARTS = {"dcterms": "http://purl.org/dc/terms/"}


def qualified(name: str) -> dict[str, str]:
    """Return a name as the value of an attribute."""
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


_COLLECTION = qualified("prov:Collection")


class ProvDocument:
    """A PROV-JSON document in progress, with versions, rows, writes, and cells."""

    def __init__(self) -> None:
        self._entities: dict[str, Any] = {}
        self._activities: dict[str, Any] = {}
        self._relations: dict[str, dict[str, dict[str, Any]]] = {}
        self._parts = False

    def json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "prefix": _PREFIX | (_PARTS if self._parts else {}),
            "entity": self._entities,
            "activity": self._activities,
            **self._relations,
        }

    def add_versions(self, versions: Iterable[Version]) -> None:
        """Add versions as collections of rows."""
        for version in versions:
            self._entities[_version(version.id)] = {
                "prov:type": _COLLECTION,
                "prov:label": str(version.dataset),
                "ps:dataset": str(version.dataset),
                "ps:rows": version.rows,
            }

    def add_writes(self, writes: Iterable[tuple[Manifest, Write]]) -> None:
        """Add writes as activities."""
        for manifest, write in writes:
            key = manifest.key
            about = {"ps:dag": key.dag_id, "ps:task": key.task_id, "ps:run": key.run_id}
            self._activities[_write(manifest.step, write.index)] = {
                "prov:startTime": utc(manifest.started),
                "prov:endTime": utc(manifest.ended),
                "prov:label": f"write {write.index} of {manifest.step}",
                "ps:try": key.try_number,
                "ps:coverage": write.coverage,
                **{name: value for name, value in about.items() if value},
            }

    def add_activity(self, name: str, about: Mapping[str, Any]) -> None:
        """Add an activity that is part of another one; empty values of `about` are left out."""
        self._parts = True
        self._activities[name] = {k: v for k, v in about.items() if v}

    def add_usage(self, activity: str, source: RowNode | CellNode) -> None:
        """Add a `used` record: an activity used a row or a cell."""
        self._relate("used", f"{_key(activity)}/{source.id}", activity=activity, entity=_entity(source))

    def add_generation(self, activity: str, made: RowNode | CellNode) -> None:
        """Add a `wasGeneratedBy` record: an activity generated a row or a cell."""
        self._relate("wasGeneratedBy", f"{_key(activity)}/{made.id}", entity=_entity(made), activity=activity)

    def add_invalidation(self, activity: str, row: RowNode) -> None:
        """Add a `wasInvalidatedBy` record: an activity dropped a row."""
        self._relate("wasInvalidatedBy", f"{_key(activity)}/{row.id}", entity=_row(row), activity=activity)

    def add_communication(self, informed: str, informant: str) -> None:
        """Add a `wasInformedBy` record: an activity used what another one generated."""
        name = f"{_key(informed)}/{informant.rpartition('/')[2]}"
        self._relate("wasInformedBy", name, informed=informed, informant=informant)

    @staticmethod
    def write_of(step: str, number: int) -> str:
        """Return the activity of a write."""
        return _write(step, number)

    def add_rows(
        self,
        rows: Iterable[RowNode],
        edges: Iterable[RowEdge],
        same: Iterable[tuple[RowNode, RowNode]],
        dropped: Iterable[tuple[RowNode, str, int]],
    ) -> None:
        """Add rows and the edges between them; `Neighbourhood` describes the arguments."""
        for row in rows:
            self._entities[_row(row)] = {"prov:label": f"row {row.row} of {row.dataset}", "ps:row": row.row}
            self._relate("hadMember", f"{row.version}/{row.row}", collection=_version(row.version), entity=_row(row))
        for edge in edges:
            ways = {"ps:occurrence": edge.occurrence}
            self._add_edge(edge, (edge.row.id, _row(edge.row)), (edge.source.id, _row(edge.source)), ways)
        for row, step, number in dropped:
            name = f"{step}/{number}/{row.id}"
            self._relate("wasInvalidatedBy", name, entity=_row(row), activity=_write(step, number))
        for one, other in same:
            self._relate("alternateOf", f"{one.id}/{other.id}", alternate1=_row(one), alternate2=_row(other))

    def add_cells(
        self, cells: Iterable[CellNode], edges: Iterable[CellEdge], same: Iterable[tuple[CellNode, CellNode]]
    ) -> None:
        """Add cells of rows that were added before."""
        for cell in cells:
            if cell.column:
                self._add_cell(cell)
        for edge in edges:
            ways = {"ps:occurrence": edge.occurrence, "ps:dependence": edge.dependence}
            ends = (edge.cell.id, _cell(edge.cell)), (edge.source.id, _cell(edge.source))
            self._add_edge(edge, *ends, ways, exact=edge.exact)
        for one, other in same:
            if one.column:
                self._relate("alternateOf", f"{one.id}/{other.id}", alternate1=_cell(one), alternate2=_cell(other))

    def _add_cell(self, cell: CellNode) -> None:
        column, where = _column(cell), f"{cell.column} of {cell.row.dataset}"
        self._entities[_row(cell.row)]["prov:type"] = _COLLECTION
        self._entities[column] = {"prov:type": _COLLECTION, "prov:label": where, "ps:column": cell.column}
        self._entities[_cell(cell)] = {"prov:label": f"row {cell.row.row}, {where}", "ps:column": cell.column}
        self._relate("hadMember", cell.id, collection=_row(cell.row), entity=_cell(cell))
        self._relate("hadMember", f"{column}/{cell.row.row}", collection=column, entity=_cell(cell))
        self._relate("hadMember", column, collection=_version(cell.row.version), entity=column)

    def _add_edge(
        self,
        edge: RowEdge | CellEdge,
        made: tuple[str, str],
        source: tuple[str, str],
        ways: dict[str, Any],
        **about: Any,
    ) -> None:
        """Record that one row or cell used another, each given by id and entity; a data edge is also a derivation.

        `ways` distinguish several derivations of one from the other; `about` are further attributes.
        """
        write, key = _write(edge.step, edge.write), f"{edge.step}/{edge.write}"
        self._relate("used", f"{key}/{source[0]}", activity=write, entity=source[1])
        if edge.kind == "data":
            self._relate("wasGeneratedBy", f"{key}/{made[0]}", entity=made[1], activity=write)
            name = "/".join([key, made[0], source[0], *map(str, ways.values())])
            said = self._relate("wasDerivedFrom", name, generatedEntity=made[1], usedEntity=source[1], activity=write)
            said |= {**ways, **{f"ps:{k}": v for k, v in about.items()}}

    def _relate(self, sort: str, key: str, **ends: str) -> dict[str, Any]:
        """Add a relation if it is new; return its attributes."""
        described: dict[str, Any] = {f"prov:{name}": value for name, value in ends.items()}
        self._relations.setdefault(sort, {})[f"ps:{sort}/{key}"] = described
        return described


def _version(identity: str) -> str:
    return f"ps:version/{identity}"


def _row(row: RowNode) -> str:
    return f"ps:row/{row.id}"


def _cell(cell: CellNode) -> str:
    return f"ps:cell/{cell.id}" if cell.column else _row(cell.row)


def _entity(node: RowNode | CellNode) -> str:
    return _row(node) if isinstance(node, RowNode) else _cell(node)


def _key(activity: str) -> str:
    return activity.removeprefix("ps:")


def _column(cell: CellNode) -> str:
    return f"ps:column/{cell.row.version}/{quote(cell.column, safe='')}"


def _write(step: str, number: int) -> str:
    return f"ps:write/{step}/{number}"
