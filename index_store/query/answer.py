"""Answers: which rows of other data sets stand behind, or came out of, each row asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import pyarrow as pa

from provspark.errors import ArgumentError, ConditionError
from provspark.index_store.boxes import concat, pairs, transpose
from provspark.index_store.model import Boxes, Int64, Kind, Version, jsonable
from provspark.index_store.query.cut import common, without
from provspark.index_store.query.graph import Direction, Sighting
from provspark.index_store.query.links import Linker
from provspark.index_store.query.paging import PAGE, paged
from provspark.index_store.query.reach import Place, Reach, collected, reach
from provspark.index_store.query.relation import compose, image, labelled, shrink
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.runs import Runs, ordering
from provspark.index_store.query.walk import Stand, Stop

METADATA = b"provspark"
"""Key of a table's schema metadata that holds the question and the stops, as JSON."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a question found; runs until `table` writes them out."""

    asked: Version
    labels: Runs
    """The rows asked about: label i is the i-th of them."""
    direction: str
    parts: tuple[Stand, ...]
    """Sorted by data set, version, occurrence and kind."""
    stops: tuple[Stop, ...]

    @classmethod
    def of(cls, asked: Version, labels: Runs, direction: str, found: Reach, kinds: frozenset[Kind]) -> Answer:
        """Keep the kinds of edges asked for of what was reached.

        Raises
        ------
        UntrackedError
            See `Reach.checked`.
        """
        kept = Reach(tuple(s for s in found.stands if s.kind in kinds), found.stops)
        way = f"the way {direction}" if direction in get_args(Direction) else "a way"
        kept.checked(f"{way} from {asked.dataset}")
        return cls(asked, labels, direction, kept.stands, kept.stops)

    def found(self) -> tuple[RowSet, ...]:
        """The rows found, as a set for each version, whatever the occurrence, kind and row asked about."""
        sets: dict[object, RowSet] = {}
        for part in self.parts:
            rows = RowSet(part.at, image(part.boxes))
            sets[part.at.key] = sets[part.at.key] | rows if part.at.key in sets else rows
        return tuple(sets.values())

    def __or__(self, other: Answer) -> Answer:
        return self._with(other, lambda a, b: concat([a, b]))

    def __and__(self, other: Answer) -> Answer:
        return self._with(other, common)

    def __sub__(self, other: Answer) -> Answer:
        return self._with(other, without)

    def _with(self, other: Answer, how: Callable[[Boxes, Boxes], Boxes]) -> Answer:
        """Compare line by line: row asked about, version, occurrence, row found, kind."""
        if not isinstance(other, Answer):
            raise ArgumentError(f"an answer is united with, cut with or taken from another answer, found {other!r}")
        if self.asked.id != other.asked.id:
            raise ConditionError(
                f"one answer is about rows of version {self.asked.id} of {self.asked.dataset}, the other of version "
                f"{other.asked.id} of {other.asked.dataset}; ask both about one version"
            )
        labels = self.labels | other.labels
        mine, theirs = self._parts(labels), other._parts(labels)
        parts = []
        for key in dict.fromkeys([*mine, *theirs]):
            boxes = how(*(p[key].boxes if key in p else Boxes.empty() for p in (mine, theirs)))
            if len(boxes):
                at = (mine.get(key) or theirs[key]).at
                parts.append(Stand(at, shrink(boxes), key[1], key[2]))
        direction = self.direction if self.direction == other.direction else "both"
        stops = tuple(sorted({*self.stops, *other.stops}))
        return Answer(self.asked, labels, direction, tuple(collected(parts)), stops)

    def _parts(self, labels: Runs) -> dict[tuple[object, int, Kind], Stand]:
        """Parts by version, occurrence and kind, told by the numbers of these labels."""
        renumbered = compose(labelled(labels), transpose(labelled(self.labels)))
        return {
            (p.at.key, p.occurrence, p.kind): Stand(p.at, compose(renumbered, p.boxes), p.occurrence, p.kind)
            for p in self.parts
        }

    def pages(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Write out what `table` does in tables of at most so many lines, each when it is asked for.

        There is at least one, which may be empty.
        """
        ranks = _ranks([_place(p) for p in self.parts]).tolist()
        for page in paged([(r, p.boxes) for r, p in zip(ranks, self.parts, strict=True)], size):
            cut = (replace(p, boxes=b) for p, b in zip(self.parts, page, strict=True) if len(b))
            yield replace(self, parts=tuple(cut)).table()

    def table(self) -> pa.Table:
        """Write out distinct lines of row, dataset, version, occurrence, source_row, kind, sorted.

        ``source_row`` is the row found: of a source for backward, of a result for forward. The schema's
        metadata holds the stops (see `stops_of`).
        """
        columns: list[list[Int64]] = [[], [], []]
        for number, part in enumerate(self.parts):
            out, src = pairs(part.boxes)
            for column, values in zip(columns, (out, src, np.full(len(out), number)), strict=True):
                column.append(values)
        label, found, number_of = (np.concatenate([*c, np.zeros(0, dtype=np.int64)]) for c in columns)
        place = _ranks([_place(p) for p in self.parts])
        kind = np.array([p.kind == "data" for p in self.parts], dtype=np.int64)
        if len(self.parts) > 1:
            order = ordering(label, place[number_of], found, kind[number_of])
            if order is not None:
                label, found, number_of = label[order], found[order], number_of[order]
        return pa.table(
            {
                "row": self.labels.at(label),
                "dataset": _words(number_of, [str(p.at.version.dataset) for p in self.parts]),
                "version": _words(number_of, [p.at.version.id for p in self.parts]),
                "occurrence": np.array([p.occurrence for p in self.parts], dtype=np.int32)[number_of],
                "source_row": found,
                "kind": _words(number_of, [p.kind for p in self.parts]),
            }
        ).replace_schema_metadata(about(self.asked, self.direction, self.stops))


def _place(part: Stand) -> tuple[str, str, int]:
    return str(part.at.version.dataset), part.at.version.id, part.occurrence


def about(asked: Version, direction: str, stops: Sequence[Stop]) -> dict[bytes, str]:
    """What the metadata of an answer's table say: the question, and where the answer is less than it could be."""
    told = {"dataset": str(asked.dataset), "version": asked.id, "direction": direction, "stops": jsonable(tuple(stops))}
    return {METADATA: json.dumps(told)}


def stops_of(table: pa.Table) -> tuple[Stop, ...]:
    """Where the answer in a table is less than it could be, from the table's metadata."""
    told = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    return tuple(Stop(**stop) for stop in told.get("stops", ()))


def ask(
    linker: Linker,
    start: Sighting,
    labels: Runs,
    relation: Boxes,
    direction: Direction,
    *,
    to: Place | None,
    kinds: frozenset[Kind],
    via: Sequence[Place] = (),
) -> Answer:
    """Find what rows came from or went into.

    Parameters
    ----------
    labels, relation
        The rows asked about, and from label i to the rows of `start` that stand for the i-th of them.
    to, via
        See `reach`.
    kinds : set of {"data", "context"}
        Each is complete on its own.

    Raises
    ------
    UntrackedError
        When nothing was found and a path stopped at something that was not captured.
    """
    found = reach(linker, [Stand(start, relation)], direction, to, context="context" in kinds, via=via)
    return Answer.of(start.version, labels, direction, found, kinds)


def _ranks(keys: list[tuple[str, str, int]]) -> Int64:
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _words(codes: Int64, words: list[str]) -> pa.Array:
    """A dictionary array; equal words share a code."""
    distinct = list(dict.fromkeys(words))
    renumber = np.array([distinct.index(w) for w in words], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(renumber[codes]), pa.array(distinct, pa.string()))
