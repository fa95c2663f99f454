"""A neighbourhood in W3C's PROV, as PROV-JSON (https://www.w3.org/submissions/prov-json/).

Versions and rows are entities, a version a collection of its rows, writes are activities. A data edge is a derivation
with the usage and generation that it stands on; a context edge is a usage alone; a row that a write read and dropped is
invalidated by it; one record in two versions is two alternates.
"""

from __future__ import annotations

from typing import Any

from provspark.index_store.query.near import Neighbourhood, RowNode
from provspark.index_store.times import utc

__all__ = ["prov_json"]

_PREFIX = {"ps": "urn:provspark:"}


def prov_json(near: Neighbourhood) -> dict[str, Any]:
    """Return a PROV-JSON document."""
    relations = _Relations()
    for row in near.rows:
        relations.add("hadMember", f"{row.version}/{row.row}", collection=_version(row.version), entity=_row(row))
    for edge in near.edges:
        write = _write(edge.step, edge.write)
        key = f"{edge.step}/{edge.write}"
        relations.add("used", f"{key}/{edge.source.id}", activity=write, entity=_row(edge.source))
        if edge.kind == "data":
            relations.add("wasGeneratedBy", f"{key}/{edge.row.id}", entity=_row(edge.row), activity=write)
            ends = {"generatedEntity": _row(edge.row), "usedEntity": _row(edge.source)}
            name = f"{key}/{edge.row.id}/{edge.source.id}/{edge.occurrence}"
            relations.add("wasDerivedFrom", name, **ends, activity=write)
            relations.found["wasDerivedFrom"][relations.name("wasDerivedFrom", name)]["ps:occurrence"] = edge.occurrence
    for row, step, number in near.dropped:
        name = f"{step}/{number}/{row.id}"
        relations.add("wasInvalidatedBy", name, entity=_row(row), activity=_write(step, number))
    for one, other in near.same:
        relations.add("alternateOf", f"{one.id}/{other.id}", alternate1=_row(one), alternate2=_row(other))
    return {"prefix": _PREFIX, "entity": _entities(near), "activity": _activities(near), **relations.found}


def _entities(near: Neighbourhood) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for identity, at in near.versions.items():
        found[_version(identity)] = {
            "prov:type": {"$": "prov:Collection", "type": "prov:QUALIFIED_NAME"},
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


def _write(step: str, number: int) -> str:
    return f"ps:write/{step}/{number}"
