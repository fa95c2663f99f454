"""A neighbourhood as a graph: NetworkX's node-link JSON, GraphML, or a NetworkX graph. Edges go as data flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from provspark.index_store.query.neighbourhood import Neighbourhood
from provspark.model.errors import PackageMissingError

if TYPE_CHECKING:
    from networkx import MultiDiGraph

__all__ = ["graphml", "networkx_graph", "node_link"]

_NODE = {"dataset": "string", "version": "string", "row": "long", "dropped_by": "string"}
_EDGE = {"step": "string", "write": "int", "occurrence": "int", "kind": "string"}


def node_link(near: Neighbourhood) -> dict[str, Any]:
    """Return what ``networkx.node_link_graph(data, edges="links")`` reads: a directed multigraph."""
    return {
        "directed": True,
        "multigraph": True,
        "graph": {},
        "nodes": [{"id": name, **about} for name, about in _nodes(near)],
        "links": [{"source": a, "target": b, "key": key, **about} for a, b, key, about in _edges(near)],
    }


def graphml(near: Neighbourhood) -> str:
    """Return a GraphML document."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for of, keys in (("node", _NODE), ("edge", _EDGE)):
        for name, kind in keys.items():
            described = {"id": f"{of}_{name}", "for": of, "attr.name": name, "attr.type": kind}
            ElementTree.SubElement(root, "key", described)
    graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
    for node, about in _nodes(near):
        _data(ElementTree.SubElement(graph, "node", id=node), "node", about)
    for source, target, key, about in _edges(near):
        edge = ElementTree.SubElement(graph, "edge", id=f"{source}-{target}-{key}", source=source, target=target)
        _data(edge, "edge", about)
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode", xml_declaration=False)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + text + "\n"


def networkx_graph(near: Neighbourhood) -> MultiDiGraph:
    """Return a `networkx.MultiDiGraph`.

    Raises
    ------
    PackageMissingError
        networkx is not installed.
    """
    try:
        import networkx
    except ImportError:
        raise PackageMissingError("a neighbourhood as a graph", "networkx") from None
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(_nodes(near))
    graph.add_edges_from(_edges(near))
    return graph


def _nodes(near: Neighbourhood) -> list[tuple[str, dict[str, Any]]]:
    dropped: dict[str, list[str]] = {}
    for row, step, number in near.dropped:
        dropped.setdefault(row.id, []).append(f"{step}/{number}")
    nodes = []
    for row in near.rows:
        about: dict[str, Any] = {"dataset": row.dataset, "version": row.version, "row": row.row}
        if row.id in dropped:
            about["dropped_by"] = " ".join(dropped[row.id])
        nodes.append((row.id, about))
    return nodes


def _edges(near: Neighbourhood) -> list[tuple[str, str, str, dict[str, Any]]]:
    edges = []
    for e in near.edges:
        about = {"step": e.step, "write": e.write, "occurrence": e.occurrence, "kind": e.kind}
        edges.append((e.source.id, e.row.id, f"{e.step}/{e.write}/{e.occurrence}/{e.kind}", about))
    for one, other in near.same:
        edges.append((one.id, other.id, "same", {"kind": "same"}))
    return edges


def _data(element: ElementTree.Element, of: str, about: dict[str, Any]) -> None:
    for name, value in about.items():
        ElementTree.SubElement(element, "data", key=f"{of}_{name}").text = str(value)
