"""A neighbourhood in W3C's PROV, as PROV-JSON (https://www.w3.org/submissions/prov-json/).

Versions and rows are entities, a version a collection of its rows, writes are activities. A data edge is a derivation
with the usage and generation that it stands on; a context edge is a usage alone; a row that a write read and dropped is
invalidated by it; one record in two versions is two alternates. Cells, where they are asked for, are entities, too:
members of their row and of their column, which is a member of the version, and derived from cells in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from provspark.index_store.query.neighbourhood import Neighbourhood, RowEdge, RowNode
from provspark.model.times import utc

if TYPE_CHECKING:
    from provspark.index_store.query.cell_neighbourhood import CellEdge, CellNeighbourhood, CellNode

__all__ = ["prov_json"]

_PREFIX = {"ps": "urn:provspark:"}
_COLLECTION = {"$": "prov:Collection", "type": "prov:QUALIFIED_NAME"}


def prov_json(near: Neighbourhood, cells: CellNeighbourhood | None = None) -> dict[str, Any]:
    """Return a PROV-JSON document of rows, and of cells of theirs."""
    relations = _Relations()
    for row in near.rows:
        relations.add("hadMember", f"{row.version}/{row.row}", collection=_version(row.version), entity=_row(row))
    for edge in near.edges:
        ways = {"ps:occurrence": edge.occurrence}
        _add_edge(relations, edge, (edge.row.id, _row(edge.row)), (edge.source.id, _row(edge.source)), ways)
    for row, step, number in near.dropped:
        name = f"{step}/{number}/{row.id}"
        relations.add("wasInvalidatedBy", name, entity=_row(row), activity=_write(step, number))
    for one, other in near.same:
        relations.add("alternateOf", f"{one.id}/{other.id}", alternate1=_row(one), alternate2=_row(other))
    entities = _entities(near)
    if cells is not None:
        _add_cell_entities(cells, entities)
        _add_cells(cells, relations)
    return {"prefix": _PREFIX, "entity": entities, "activity": _activities(near), **relations.found}


def _add_edge(
    relations: _Relations,
    edge: RowEdge | CellEdge,
    made: tuple[str, str],
    source: tuple[str, str],
    ways: dict[str, Any],
    **about: Any,
) -> None:
    """Tell that one row or cell used another, each by its id and entity, and, of a data edge, was made of it.

    `ways` tell apart derivations of one from the other; `about` says more of one.
    """
    write, key = _write(edge.step, edge.write), f"{edge.step}/{edge.write}"
    relations.add("used", f"{key}/{source[0]}", activity=write, entity=source[1])
    if edge.kind == "data":
        relations.add("wasGeneratedBy", f"{key}/{made[0]}", entity=made[1], activity=write)
        name = "/".join([key, made[0], source[0], *map(str, ways.values())])
        relations.add("wasDerivedFrom", name, generatedEntity=made[1], usedEntity=source[1], activity=write)
        relations.found["wasDerivedFrom"][relations.name("wasDerivedFrom", name)] |= {
            **ways,
            **{f"ps:{k}": v for k, v in about.items()},
        }


def _add_cells(cells: CellNeighbourhood, relations: _Relations) -> None:
    for cell in cells.cells:
        if cell.column:
            column = _column(cell)
            relations.add("hadMember", cell.id, collection=_row(cell.row), entity=_cell(cell))
            relations.add("hadMember", f"{column}/{cell.row.row}", collection=column, entity=_cell(cell))
            relations.add("hadMember", column, collection=_version(cell.row.version), entity=column)
    for edge in cells.edges:
        ways = {"ps:occurrence": edge.occurrence, "ps:dependence": edge.dependence}
        ends = (edge.cell.id, _cell(edge.cell)), (edge.source.id, _cell(edge.source))
        _add_edge(relations, edge, *ends, ways, exact=edge.exact)
    for one, other in cells.same:
        if one.column:
            relations.add("alternateOf", f"{one.id}/{other.id}", alternate1=_cell(one), alternate2=_cell(other))


def _add_cell_entities(cells: CellNeighbourhood, found: dict[str, Any]) -> None:
    for cell in cells.cells:
        if cell.column:
            where = f"{cell.column} of {cell.row.dataset}"
            found[_row(cell.row)]["prov:type"] = _COLLECTION
            found[_column(cell)] = {"prov:type": _COLLECTION, "prov:label": where, "ps:column": cell.column}
            found[_cell(cell)] = {"prov:label": f"row {cell.row.row}, {where}", "ps:column": cell.column}


def _entities(near: Neighbourhood) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for identity, at in near.versions.items():
        found[_version(identity)] = {
            "prov:type": _COLLECTION,
            "prov:label": str(at.version.dataset),
            "ps:dataset": str(at.version.dataset),
            "ps:rows": at.version.rows,
        }
    for row in near.rows:
        found[_row(row)] = {"prov:label": f"row {row.row} of {row.dataset}", "ps:row": row.row}
    return found


def _activities(near: Neighbourhood) -> dict[str, Any]:
    found = {}
    for (step, number), node in sorted(near.writes.items(), key=lambda item: item[0]):
        key = node.manifest.key
        about = {"ps:dag": key.dag_id, "ps:task": key.task_id, "ps:run": key.run_id}
        found[_write(step, number)] = {
            "prov:startTime": utc(node.manifest.started),
            "prov:endTime": utc(node.manifest.ended),
            "prov:label": f"write {number} of {step}",
            "ps:try": key.try_number,
            "ps:coverage": node.write.coverage,
            **{name: value for name, value in about.items() if value},
        }
    return found


class _Relations:
    """Relations by their sort, each once."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, dict[str, Any]]] = {}

    def name(self, sort: str, key: str) -> str:
        return f"ps:{sort}/{key}"

    def add(self, sort: str, key: str, **ends: str) -> None:
        described = {f"prov:{name}": value for name, value in ends.items()}
        self.found.setdefault(sort, {})[self.name(sort, key)] = described


def _version(identity: str) -> str:
    return f"ps:version/{identity}"


def _row(row: RowNode) -> str:
    return f"ps:row/{row.id}"


def _cell(cell: CellNode) -> str:
    return f"ps:cell/{cell.id}" if cell.column else _row(cell.row)


def _column(cell: CellNode) -> str:
    return f"ps:column/{cell.row.version}/{quote(cell.column, safe='')}"


def _write(step: str, number: int) -> str:
    return f"ps:write/{step}/{number}"
