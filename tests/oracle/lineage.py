"""Ask the store for the whole lineage of an output, in the oracle's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oracle.relation import Witness
from oracle.sources import Source

import provspark
from provspark.model.datasets import Dataset
from provspark.model.writes import Kind

KINDS: tuple[Kind, ...] = ("data", "context")
MADE = "made"
"""The name of every data set of rows that the script makes itself: occurrences tell them apart."""
Edge = tuple[Witness, int]
"""A witness and an output row."""


def names(paths: Mapping[str, Path]) -> dict[str, str]:
    """Data sets' names as the store writes them, to the sources' names."""
    return {Dataset("file", str(path)).uri: name for name, path in paths.items()}


class Lineage:
    """Edges of a step's outputs, whose inputs are `sources` placed at `paths`.

    A scan that skips partitions reads a version of its own, of fewer files; ids are brought back to those of the whole
    source by the first column, which then has to be unique.
    """

    def __init__(self, store: Path, manifest: Any, sources: Sequence[Source], paths: Mapping[str, Path]) -> None:
        self._prov = provspark.open(store.as_uri())
        self._names = names(paths)
        self._sources = {s.name: s for s in sources}
        versions = {v.id: v for w in manifest.writes for v in w.inputs}
        self._ids = {v.id: self._ids_of(v) for v in versions.values() if v.dataset.uri in self._names}
        for v in versions.values():
            if v.dataset.namespace in ("memory://local", "memory://range"):
                self._names[v.dataset.uri], self._ids[v.id] = MADE, range(v.rows)
        self._versions = [
            (v.dataset.uri, v.id) for v in versions.values() if v.id in self._ids and self._names[v.dataset.uri] != MADE
        ]

    def _ids_of(self, version: Any) -> Sequence[int]:
        source = self._sources[self._names[version.dataset.uri]]
        if version.rows == len(source.rows):
            return range(version.rows)
        column = source.columns[0]
        values = (
            self._prov.values(version.dataset.uri, version=version.id, columns=[column]).table()[column].to_pylist()
        )
        assert len(values) == version.rows
        places = {row[0]: i for i, row in enumerate(source.rows)}
        assert len(places) == len(source.rows), f"{source.name} has no unique first column"
        return [places[int(v)] for v in values]

    def backward(self, output: Path, rows: int) -> list[frozenset[Witness]]:
        """Witnesses of each output row."""
        found: list[set[Witness]] = [set() for _ in range(rows)]
        for line in lines(self._prov.backward(Dataset("file", str(output)).uri, rows=range(rows), kinds=KINDS).table()):
            ids = self._ids[line["version"]]
            found[line["row"]].add(
                witness(self._names[line["dataset"]], line["occurrence"], ids[line["related_row"]], line["kind"])
            )
        return [frozenset(w) for w in found]

    def check_forward(self, edges: Mapping[Path, set[Edge]]) -> dict[Path, str]:
        """From all rows of each version read, forward finds what backward found by output, no less and no more.

        Returns what is wrong, by output.
        """
        outputs = {Dataset("file", str(path)).uri: path for path in edges}
        wrong = {}
        for dataset, version in self._versions:
            ids, name = self._ids[version], self._names[dataset]
            found: dict[Path, set[Edge]] = {path: set() for path in edges}
            for line in lines(self._prov.forward(dataset, rows=range(len(ids)), version=version, kinds=KINDS).table()):
                end = witness(name, line["occurrence"], ids[line["row"]], line["kind"])
                path = outputs.get(line["dataset"], Path(line["dataset"]))
                found.setdefault(path, set()).add((end, line["related_row"]))
            members = set(ids)
            for path, some in found.items():
                expected = {e for e in edges.get(path, ()) if e[0][0] == name and e[0][2] in members}
                if some != expected:
                    wrong[path] = f"forward: too much {sorted(some - expected)}, lacking {sorted(expected - some)}"
        return wrong


def witness(source: str, occurrence: int, row: int, kind: Kind) -> Witness:
    """Put an edge's end in the oracle's words."""
    return (source, occurrence, row, "context") if kind == "context" else (source, occurrence, row)


def transpose(witnesses: Sequence[frozenset[Witness]]) -> set[Edge]:
    """What forward has to find, given what backward found."""
    return {(w, row) for row, found in enumerate(witnesses) for w in found}


def lines(table: Any) -> list[dict[str, Any]]:
    """Rows of an answer, each once."""
    assert table.column_names == ["row", "dataset", "version", "occurrence", "related_row", "kind"]
    found: list[dict[str, Any]] = table.to_pylist()
    assert len({tuple(line.values()) for line in found}) == len(found), "an answer repeats a line"
    return found
