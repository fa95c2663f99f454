"""Rows and their edges as a graph: NetworkX's node-link JSON, GraphML, or a NetworkX graph. Edges follow the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from provspark.model.errors import PackageMissingError
from provspark.model.neighbours import RowEdge, RowNode

if TYPE_CHECKING:
    from networkx import MultiDiGraph

__all__ = ["RowGraph", "row_graph"]

_NODE = {"dataset": "string", "version": "string", "row": "long", "dropped_by": "string"}
_EDGE = {"step": "string", "write": "int", "occurrence": "int", "kind": "string"}


@dataclass(frozen=True, slots=True)
class RowGraph:
    """A directed multigraph for other tools."""

    nodes: list[tuple[str, dict[str, Any]]]
    """Id and attributes of each node."""
    edges: list[tuple[str, str, str, dict[str, Any]]]
    """Source id, target id, key and attributes of each edge."""

    def node_link(self) -> dict[str, Any]:
        """Return the data that ``networkx.node_link_graph(data, edges="links")`` reads."""
        return {
            "directed": True,
            "multigraph": True,
            "graph": {},
            "nodes": [{"id": name, **about} for name, about in self.nodes],
            "links": [{"source": a, "target": b, "key": key, **about} for a, b, key, about in self.edges],
        }

    def graphml(self) -> str:
        """Return a GraphML document."""
        root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
        for of, keys in (("node", _NODE), ("edge", _EDGE)):
            for name, kind in keys.items():
                described = {"id": f"{of}_{name}", "for": of, "attr.name": name, "attr.type": kind}
                ElementTree.SubElement(root, "key", described)
        graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
        for node, about in self.nodes:
            _data(ElementTree.SubElement(graph, "node", id=node), "node", about)
        for source, target, key, about in self.edges:
            edge = ElementTree.SubElement(graph, "edge", id=f"{source}-{target}-{key}", source=source, target=target)
            _data(edge, "edge", about)
        ElementTree.indent(root)
        text: str = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + text + "\n"

    def networkx(self) -> MultiDiGraph:
        """Return a `networkx.MultiDiGraph`.

        Raises
        ------
        PackageMissingError
            networkx is not installed.
        """
        try:
            import networkx
        except ImportError:
            raise PackageMissingError("A neighbourhood as a graph", "networkx") from None
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph


def row_graph(
    rows: Iterable[RowNode],
    edges: Iterable[RowEdge],
    same: Iterable[tuple[RowNode, RowNode]],
    dropped: Iterable[tuple[RowNode, str, int]],
) -> RowGraph:
    """Return a graph of rows; for the arguments, see the fields of `Neighbourhood`."""
    return RowGraph(_nodes(rows, dropped), _edges(edges, same))


def _nodes(rows: Iterable[RowNode], dropped: Iterable[tuple[RowNode, str, int]]) -> list[tuple[str, dict[str, Any]]]:
    dropping: dict[str, list[str]] = {}
    for row, step, number in dropped:
        dropping.setdefault(row.id, []).append(f"{step}/{number}")
    nodes = []
    for row in rows:
        about: dict[str, Any] = {"dataset": row.dataset, "version": row.version, "row": row.row}
        if row.id in dropping:
            about["dropped_by"] = " ".join(dropping[row.id])
        nodes.append((row.id, about))
    return nodes


def _edges(
    edges: Iterable[RowEdge], same: Iterable[tuple[RowNode, RowNode]]
) -> list[tuple[str, str, str, dict[str, Any]]]:
    drawn = []
    for e in edges:
        about = {"step": e.step, "write": e.write, "occurrence": e.occurrence, "kind": e.kind}
        drawn.append((e.source.id, e.row.id, f"{e.step}/{e.write}/{e.occurrence}/{e.kind}", about))
    for one, other in same:
        drawn.append((one.id, other.id, "same", {"kind": "same"}))
    return drawn


def _data(element: ElementTree.Element, of: str, about: dict[str, Any]) -> None:
    for name, value in about.items():
        ElementTree.SubElement(element, "data", key=f"{of}_{name}").text = str(value)
