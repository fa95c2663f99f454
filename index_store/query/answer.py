"""Answers: which rows of other data sets stand behind, or came out of, each row asked about."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.errors import UntrackedError
from provspark.index_store.boxes import concat, pairs
from provspark.index_store.model import Boxes, Dataset, Int64, Kind, Version, jsonable
from provspark.index_store.query.graph import Direction, Node, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.query.relation import shrink
from provspark.index_store.query.runs import Runs, ordering
from provspark.index_store.query.walk import Plan, Stop, next_nodes, plan, walk

METADATA = b"provspark"
"""Key of a table's schema metadata that holds the question and the stops, as JSON."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Rows of one version, in one of its occurrences, by one kind of path."""

    version: Version
    occurrence: int
    """Which reading of the version the last step was, in plan order; -1 where no step was walked."""
    kind: Kind
    boxes: Boxes
    """From labels to rows of the version; may repeat pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What `ask` found; runs until `table` writes them out."""

    asked: Version
    labels: Runs
    """The rows asked about: label i is the i-th of them."""
    direction: Direction
    parts: tuple[Part, ...]
    """Sorted by data set, version, occurrence and kind."""
    stops: tuple[Stop, ...]

    def table(self) -> pa.Table:
        """Write out distinct lines of row, dataset, version, occurrence, source_row, kind, sorted.

        ``source_row`` is the row found: of a source for backward, of a result for forward. The schema's
        metadata holds the stops (see `stops_of`).
        """
        columns: list[list[Int64]] = [[], [], []]
        for number, part in enumerate(self.parts):
            out, src = pairs(shrink(part.boxes))
            for column, values in zip(columns, (out, src, np.full(len(out), number)), strict=True):
                column.append(values)
        label, found, number_of = (np.concatenate([*c, np.zeros(0, dtype=np.int64)]) for c in columns)
        place = _ranks([(str(p.version.dataset), p.version.id, p.occurrence) for p in self.parts])
        kind = np.array([p.kind == "data" for p in self.parts], dtype=np.int64)
        if len(self.parts) > 1:
            order = ordering(label, place[number_of], found, kind[number_of])
            if order is not None:
                label, found, number_of = label[order], found[order], number_of[order]
        return pa.table(
            {
                "row": self.labels.at(label),
                "dataset": _words(number_of, [str(p.version.dataset) for p in self.parts]),
                "version": _words(number_of, [p.version.id for p in self.parts]),
                "occurrence": np.array([p.occurrence for p in self.parts], dtype=np.int32)[number_of],
                "source_row": found,
                "kind": _words(number_of, [p.kind for p in self.parts]),
            }
        ).replace_schema_metadata({METADATA: json.dumps(self._about())})

    def _about(self) -> dict[str, Any]:
        return {
            "dataset": str(self.asked.dataset),
            "version": self.asked.id,
            "direction": self.direction,
            "stops": jsonable(self.stops),
        }


def stops_of(table: pa.Table) -> tuple[Stop, ...]:
    """Where the answer in a table is less than it could be, from the table's metadata."""
    about = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    return tuple(Stop(**stop) for stop in about.get("stops", ()))


def ask(
    linker: Linker,
    start: Sighting,
    labels: Runs,
    relation: Boxes,
    direction: Direction,
    *,
    to: Dataset | None,
    kinds: frozenset[Kind],
) -> Answer:
    """Find what rows came from or went into.

    Parameters
    ----------
    labels, relation
        The rows asked about, and from label i to the rows of `start` that stand for the i-th of them.
    to : Dataset or None
        The data set whose rows are wanted, wherever it is met on the way; None for the ends of all paths:
        rows that no captured write made (backward) or read (forward).
    kinds : set of {"data", "context"}
        Each is complete on its own.

    Raises
    ------
    UntrackedError
        When nothing was found and a path stopped at something that was not captured.
    """
    route = plan(linker, start, direction)
    sink = _Collect(to, kinds)
    walk(linker, route, relation, sink, context="context" in kinds, useful=towards(linker, route, to))
    stops = tuple(sorted(sink.stops))
    blocked = [s for s in stops if s.what != "coarse"]
    if blocked and not sink.found:
        more = f" (and {len(blocked) - 1} more places)" if len(blocked) > 1 else ""
        raise UntrackedError(
            f"the way {direction} from {start.version.dataset} stops at step {blocked[0].step}, which wrote "
            f"{blocked[0].dataset}: {blocked[0].why}{more}. Ask for a data set before it with to=…, "
            f"or run that step again with what stopped its capture put right."
        )
    return Answer(start.version, labels, direction, sink.parts(), stops)


class _Collect:
    """Keeps what was asked for of what a walk meets."""

    def __init__(self, to: Dataset | None, kinds: frozenset[Kind]) -> None:
        self.to, self.kinds = to, kinds
        self.found: dict[tuple[Dataset, str, int, Kind], tuple[Version, list[Boxes]]] = {}
        self.stops: set[Stop] = set()

    def met(self, at: Sighting, origin: Sighting, via: Node | None, occurrence: int, kind: Kind, rel: Boxes) -> None:
        if at.version.dataset == self.to and (via is not None or origin.version.dataset != self.to):
            self._keep(at, occurrence, kind, rel)

    def ended(self, at: Sighting, occurrence: int, kind: Kind, rel: Boxes) -> None:
        if self.to is None:
            self._keep(at, occurrence, kind, rel)

    def stopped(self, stop: Stop) -> None:
        self.stops.add(stop)

    def _keep(self, at: Sighting, occurrence: int, kind: Kind, rel: Boxes) -> None:
        if kind in self.kinds:
            key = (at.version.dataset, at.version.id, occurrence, kind)
            self.found.setdefault(key, (at.version, []))[1].append(rel)

    def parts(self) -> tuple[Part, ...]:
        return tuple(
            Part(version, key[2], key[3], concat(rels))
            for key, (version, rels) in sorted(self.found.items(), key=lambda item: (str(item[0][0]), *item[0][1:]))
        )


def towards(linker: Linker, route: Plan, to: Dataset | None) -> Callable[[Node], bool]:
    """Which writes may lead to a data set, or to a stop on the way to it."""
    if to is None:
        return lambda node: True
    useful: set[Node] = set()
    for node in reversed(route.nodes):
        write = node.write
        if write.coverage == "untracked":
            useful.add(node)
            continue
        if route.direction == "backward":
            stands = list(node.inputs.values())
            links = [linker.links(s, "backward") for s in stands]
        else:
            stands, links = [node.output], [linker.onward(node)]
        if (
            (route.direction == "forward" and node.manifest.untracked)
            or any(s.version.dataset == to for s in stands)
            or any(x.refused or any(k.target.version.dataset == to for k in x.links) for x in links)
            or any(n in useful for n in next_nodes(linker, node, route.direction))
        ):
            useful.add(node)
    return useful.__contains__


def _ranks(keys: list[tuple[str, str, int]]) -> Int64:
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _words(codes: Int64, words: list[str]) -> pa.Array:
    """A dictionary array; equal words share a code."""
    distinct = list(dict.fromkeys(words))
    renumber = np.array([distinct.index(w) for w in words], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(renumber[codes]), pa.array(distinct, pa.string()))
