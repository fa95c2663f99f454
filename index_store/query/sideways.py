"""The datasets that `co_contributory`, `co_dependency` and `composition` can name, found from the links of steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.walk import plan
from provspark.model.datasets import Dataset
from provspark.model.progress import enter

__all__ = ["SidewaysDatasets", "beside"]


@dataclass(frozen=True, slots=True)
class SidewaysDatasets:
    """Datasets that questions about rows of a version can name.

    Parameters
    ----------
    together : mapping of Dataset to tuple of Dataset
        Datasets that a step combined with the rows or their results, each with the datasets where derivations can end.
    siblings : mapping of Dataset to tuple of Dataset
        Datasets that share a source with the rows, each with these sources, the farthest first.
    sources : tuple of Dataset
        Datasets that the rows came from, for `composition`.
    """

    together: Mapping[Dataset, tuple[Dataset, ...]]
    siblings: Mapping[Dataset, tuple[Dataset, ...]]
    sources: tuple[Dataset, ...]


def beside(linker: Linker, at: VersionReference) -> SidewaysDatasets:
    """Return these datasets for a version, the nearest first."""
    before = _inputs(_nodes(linker, at, "backward"))
    siblings: dict[Dataset, dict[Dataset, None]] = {}
    for source, reference in before.items():
        for output in dict.fromkeys(n.write.output.dataset for n in _nodes(linker, reference, "forward")):
            siblings.setdefault(output, {})[source] = None
    own = at.version.dataset
    ordered = sorted(siblings, key=lambda d: (d != own, d in before))
    return SidewaysDatasets(_together(linker, at), {d: tuple(siblings[d])[::-1] for d in ordered}, tuple(before))


def _together(linker: Linker, at: VersionReference) -> dict[Dataset, tuple[Dataset, ...]]:
    outputs: dict[Dataset, dict[Dataset, None]] = {}
    led = {link.target.key for link in linker.links(at, "forward").links}
    for node in _nodes(linker, at, "forward"):
        axes = [node.inputs[a.version] for a in node.write.axes if a.role == "input"]
        leading = {i for i, s in enumerate(axes) if s.key in led}
        led |= {link.target.key for link in linker.onward(node).links}
        ends = [node, *_nodes(linker, node.output, "forward")]
        for i, reference in enumerate(axes):
            if leading - {i}:
                for dataset in [reference.version.dataset, *_inputs(_nodes(linker, reference, "backward"))]:
                    outputs.setdefault(dataset, {}).update(dict.fromkeys(n.write.output.dataset for n in ends))
    return {dataset: tuple(ends) for dataset, ends in outputs.items()}


def _nodes(linker: Linker, at: VersionReference, direction: Direction) -> tuple[WriteNode, ...]:
    """Return the writes before or after a version, the nearest first."""
    nodes = plan(linker, [at], direction).nodes
    for node in nodes:
        enter(node.step)
    return nodes


def _inputs(nodes: Iterable[WriteNode]) -> dict[Dataset, VersionReference]:
    inputs: dict[Dataset, VersionReference] = {}
    for node in nodes:
        for reference in node.inputs.values():
            inputs.setdefault(reference.version.dataset, reference)
    return inputs
