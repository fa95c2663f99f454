"""Answers: which rows of other data sets stand behind, or came out of, each row asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from provspark.index_store.query.current_versions import Current, Currents, VersionUsed
from provspark.index_store.query.gone_rows import Gone
from provspark.index_store.query.intersections import common, without
from provspark.index_store.query.nodes import Direction, VersionReference
from provspark.index_store.query.notebook import brief, listed
from provspark.index_store.query.paging import PAGE, first_of, paged
from provspark.index_store.query.reachable_rows import Reach, collected
from provspark.index_store.query.relation import compose, image, labelled, shrink
from provspark.index_store.query.row_values import Values, values_of
from provspark.index_store.query.rowset import RowSet, only
from provspark.index_store.query.tabular import (
    METADATA,
    POSSIBLE,
    FormerAnswer,
    FormerTable,
    Tabular,
    both_names,
    said,
    written,
)
from provspark.index_store.query.tally import distinct_pairs
from provspark.index_store.query.trust import Trusted
from provspark.index_store.query.walk import Stand
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.boxes.pairs import concat, pairs, transpose
from provspark.model.datasets import Dataset, Version
from provspark.model.errors import ArgumentError, ConditionError
from provspark.model.json_form import jsonable
from provspark.model.runs import Runs, ordering
from provspark.model.stops import Stop
from provspark.model.wording import counted
from provspark.model.writes import Kind

_KINDS: tuple[Kind, ...] = ("context", "data", "possible")


@dataclass(frozen=True, slots=True, order=True)
class End:
    """A data set on a driver that rows reached, and from which nothing surely went on.

    Parameters
    ----------
    dataset : str
        As ``memory://driver/clean.py:12``: the script and the line that read the rows.
    version, step : str
    rows : int
        How many of its rows were reached.
    """

    dataset: str
    version: str
    step: str
    rows: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows were read on the driver of step {self.step}: {self.dataset}"


def ends_at(stands: Iterable[Stand]) -> tuple[End, ...]:
    """Count what was reached of each data set on a driver."""
    sets: dict[tuple[str, str, str], Runs] = {}
    for stand in stands:
        version = stand.at.version
        key = (str(version.dataset), version.id, stand.at.node.step)
        sets[key] = sets.get(key, Runs.span(0)) | image(stand.boxes)
    return tuple(sorted(End(*key, rows.count) for key, rows in sets.items()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(FormerTable):
    """The rows that a question found: ranges of row ids, until `table` writes them out line by line.

    ``a | b``, ``a & b`` and ``a - b`` compare two answers line by line. `len` counts lines, and iteration yields them.
    """

    asked: Version
    labels: Runs
    """The rows asked about: label i is the i-th of them."""
    direction: str
    parts: tuple[Stand, ...]
    """Sorted by data set, version, occurrence and kind."""
    stops: tuple[Stop, ...] = field()  # else the parent's property were its default
    possible_parts: tuple[Stand, ...] = ()
    """Rows that the rows asked about may have come from or gone into, through values that capture can't see into."""
    ends: tuple[End, ...] = ()
    """Data sets on drivers that the rows reached, and from which nothing surely went on."""
    trusted: tuple[Trusted, ...] = ()
    """What would have been among the stops, possible edges and ends, but is trusted."""
    beside: tuple[Stand, ...] = ()
    """Forward to a dataset, rows that were written under the name of a folder above it, or within it."""
    older: tuple[Stand, ...] = ()
    """Rows that were found, and are in no current version of their dataset, in the versions in which they were met."""
    used: tuple[VersionUsed, ...] = ()
    """The versions whose row ids it tells: of the rows asked about first, then of those found."""
    currents: tuple[Current, ...] = ()
    """The current versions in which rows found are told."""
    names: Currents | None = None
    """What found these."""
    versions: Literal["current", "all"] = "current"
    """With ``all``, rows that are gone are among the parts, in the version in which they were met."""

    @classmethod
    def of(
        cls,
        asked: Version,
        labels: Runs,
        direction: str,
        reached: Reach,
        kinds: frozenset[Kind],
        trusted: Iterable[Trusted] = (),
        used: tuple[VersionUsed, ...] = (),
    ) -> Answer:
        """Keep the kinds of edges asked for of what was reached.

        Raises
        ------
        UntrackedError
            See `Reach.checked`.
        """
        kept = replace(reached, stands=tuple(s for s in reached.stands if s.kind in {*kinds, "possible"}))
        way = f"the way {direction}" if direction in get_args(Direction) else "a way"
        kept.checked(f"{way} from {asked.dataset}")
        sure, possible = (tuple(s for s in kept.stands if s.kind in some) for some in (kinds, frozenset({"possible"})))
        ended = ends_at(s for s in reached.ends if s.kind in {*kinds, "possible"})
        beside = tuple(s for s in reached.beside if s.kind in kinds)
        told = asked, labels, direction, sure, kept.stops, possible, ended, tuple(sorted(trusted))
        return cls(*told, beside=beside, used=used)

    @property
    def gone(self) -> tuple[Gone, ...]:
        """The rows in no current version, counted by the step that removed their files."""
        return self.names.gone(self.older) if self.names and self.older else ()

    def now(self, currents: Currents, to: Dataset | None, versions: Literal["current", "all"]) -> Answer:
        """Tell the rows found in the current versions of their datasets, and of the dataset asked for.

        Parameters
        ----------
        versions : {"current", "all"}
            With ``all``, rows that are in no current version stay, in the version in which they were met.
        """
        here: dict[Dataset, Current] = {}
        sure, possible = currents.bring(self.parts, here), currents.bring(self.possible_parts, here)
        current = None if to is None else currents.known(to, here)
        own = currents.within(self.beside, current) if current and self.beside else ()
        parts, more = (
            stands if told == stands else tuple(collected(told))
            for stands, told in (
                (self.parts, (*sure.stands, *own, *(sure.older if versions == "all" else ()))),
                (self.possible_parts, (*possible.stands, *(possible.older if versions == "all" else ()))),
            )
        )
        used = {c.used for c in here.values()}
        itself = (p.at.version for p in parts if p.at.version.dataset not in here)
        used |= {VersionUsed(str(version.dataset), version.id, "itself") for version in itself}
        return replace(
            self,
            parts=parts,
            possible_parts=more,
            stops=tuple(sorted({*self.stops, *sure.stops, *possible.stops})),
            older=(*self.older, *sure.older),
            used=(*self.used, *sorted(used - set(self.used))),
            currents=tuple(here.values()),
            names=currents,
            versions=versions,
        )

    @property
    def possible(self) -> Answer:
        """The possible edges alone, as an answer."""
        return replace(self, parts=self.possible_parts, possible_parts=())

    @property
    def exact(self) -> bool:
        """Whether these are all rows, and no others: nothing stopped, was captured as a whole, or is only possible."""
        sure = all(part.kind != "possible" for part in self.parts)
        return sure and not self.stops and not self.possible_parts and not self.ends

    @property
    def rows(self) -> RowSet:
        """The rows found, as a set to ask the next question about.

        Raises
        ------
        ConditionError
            They are of several versions, or there are none.
        """
        return only(self.found())

    def values(self, columns: Sequence[str] | None = None) -> Values:
        """Read the values of the rows found: for each line of `table` a line, in the same order within a version.

        Parameters
        ----------
        columns : sequence of str, optional
            Some of the columns of the rows' dataset.

        Returns
        -------
        Values
            Its table: dataset, version, row, and the dataset's columns. Of several datasets, `Values.tables` has one
            table each.

        Raises
        ------
        UnknownColumnError, VersionChangedError, ValuesUnavailableError
        """
        places: dict[object, tuple[VersionReference, list[Stand]]] = {}
        for part in self.parts:
            places.setdefault(part.at.key, (part.at, []))[1].append(part)
        lines = [(at, self._lines(parts)["related_row"].to_numpy(), columns) for at, parts in places.values()]
        return values_of(lines, self._about(), exact=self.exact)

    def __len__(self) -> int:
        return sum(distinct_pairs(part.boxes) for part in self.parts)

    def _first(self, most: int) -> pa.Table:
        return first_of(replace(self, possible_parts=()).pages(most), most)

    def __repr__(self) -> str:
        places = dict.fromkeys(str(p.at.version.dataset) for p in self.parts)
        where = f": {counted(len(self), 'line')} in {listed(places)}" if places else ": no line"
        more = f", and {len(self.possible):,} possible" if self.possible_parts else ""
        return brief(f"{self.direction} from {listed([self.asked.dataset])}", None, self.stops, where + more)

    def found(self) -> tuple[RowSet, ...]:
        """The rows found, as a set for each version, whatever the occurrence, kind and row asked about."""
        sets: dict[object, RowSet] = {}
        for part in self.parts:
            rows = RowSet(part.at, image(part.boxes))
            sets[part.at.key] = sets[part.at.key] | rows if part.at.key in sets else rows
        return tuple(sets.values())

    def __or__(self, other: Answer | FormerAnswer) -> Answer:
        return self._with(other, lambda a, b: concat([a, b]))

    def __and__(self, other: Answer | FormerAnswer) -> Answer:
        return self._with(other, common)

    def __sub__(self, other: Answer | FormerAnswer) -> Answer:
        return self._with(other, without)

    def _with(self, other: Answer | FormerAnswer, how: Callable[[Boxes, Boxes], Boxes]) -> Answer:
        """Compare line by line: row asked about, version, occurrence, row found, kind."""
        if isinstance(other, FormerAnswer):
            other = other.answer
        if not isinstance(other, Answer):
            raise ArgumentError(f"an answer is united with, cut with or taken from another answer, found {other!r}")
        if self.asked.id != other.asked.id:
            raise ConditionError(
                f"one answer is about rows of version {self.asked.id} of {self.asked.dataset}, the other of version "
                f"{other.asked.id} of {other.asked.dataset}; ask both about one version"
            )
        self._told_alike(other)
        labels = self.labels | other.labels
        parts, older = (self._merged(other, labels, how, of) for of in ("parts", "older"))
        direction = self.direction if self.direction == other.direction else "both"
        # What may be more, or is left open, in either is so in what is made of both, whichever way.
        possible = [
            *self._parts(labels, self.possible_parts).values(),
            *other._parts(labels, other.possible_parts).values(),
        ]
        names = ("stops", "ends", "trusted")
        stops, ends, trusted = (tuple(sorted({*getattr(self, name), *getattr(other, name)})) for name in names)
        return replace(
            self,
            labels=labels,
            direction=direction,
            parts=tuple(collected(parts)),
            older=tuple(collected(older)),
            stops=stops,
            possible_parts=tuple(collected(possible)),
            ends=ends,
            trusted=trusted,
            used=tuple(dict.fromkeys((*self.used, *other.used))),
            currents=tuple({c.at.version.dataset: c for c in (*self.currents, *other.currents)}.values()),
            names=self.names or other.names,
            versions="all" if "all" in (self.versions, other.versions) else "current",
        )

    def _told_alike(self, other: Answer) -> None:
        """Refuse an answer with another current version of a dataset: its row ids mean other rows."""
        mine = {c.at.version.dataset: c for c in self.currents}
        for there in other.currents:
            here = mine.get(there.at.version.dataset, there)
            if (here.at.key, here.missing) != (there.at.key, there.missing):
                dataset, mine_id, other_id = here.at.version.dataset, here.at.version.id, there.at.version.id
                why = f"files of {dataset} changed between the two questions"
                if mine_id != other_id:
                    why = f"the two answers use different current versions of {dataset} ({mine_id} and {other_id})"
                raise ConditionError(
                    f"{why}, so their row ids can't be combined; ask both questions again, with the same run and as_of"
                )

    def _merged(
        self, other: Answer, labels: Runs, how: Callable[[Boxes, Boxes], Boxes], of: Literal["parts", "older"]
    ) -> list[Stand]:
        mine, theirs = self._parts(labels, getattr(self, of)), other._parts(labels, getattr(other, of))
        merged = []
        for key in dict.fromkeys([*mine, *theirs]):
            boxes = how(*(p[key].boxes if key in p else Boxes.empty() for p in (mine, theirs)))
            if len(boxes):
                at = (mine.get(key) or theirs[key]).at
                merged.append(Stand(at, shrink(boxes), *key[1:]))
        return merged

    def _parts(self, labels: Runs, of: Sequence[Stand]) -> dict[tuple[object, int, Kind, bool], Stand]:
        """Parts by version, occurrence, kind and whether they are gone, told by the numbers of these labels."""
        renumbered = compose(labelled(labels), transpose(labelled(self.labels)))
        return {(p.at.key, p.occurrence, p.kind, p.gone): replace(p, boxes=compose(renumbered, p.boxes)) for p in of}

    def pages(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Write out what `table` does in tables of at most so many lines, each when it is asked for.

        There is at least one, which may be empty. The possible edges come with the first.
        """
        ranks = _ranks([_place(p) for p in self.parts]).tolist()
        possible = self.possible_parts
        for page in paged([(r, p.boxes) for r, p in zip(ranks, self.parts, strict=True)], size):
            cut = (replace(p, boxes=b) for p, b in zip(self.parts, page, strict=True) if len(b))
            yield replace(self, parts=tuple(cut), possible_parts=possible).table()
            possible = ()

    def table(self) -> pa.Table:
        """Write out distinct lines of row, dataset, version, occurrence, related_row, kind, sorted.

        ``related_row`` is the row found: of a source for backward, of a result for forward. With all versions there is
        a column ``gone``, too. The schema's metadata holds the stops (see `stops_of`) and the rows that are gone.
        """
        told = self._about()
        if self.possible_parts:
            told[POSSIBLE] = _dump_possible(self._lines(self.possible_parts))
        return self._lines(self.parts).replace_schema_metadata(told)

    def _about(self) -> dict[bytes, str | bytes]:
        return about(self.asked, self.direction, self.stops, self.ends, self.trusted, self.gone, self.used)

    def _lines(self, parts: Sequence[Stand]) -> pa.Table:
        columns: list[list[Int64]] = [[], [], []]
        for number, part in enumerate(parts):
            out, src = pairs(part.boxes)
            for column, values in zip(columns, (out, src, np.full(len(out), number)), strict=True):
                column.append(values)
        label, row, number_of = (np.concatenate([*c, np.zeros(0, dtype=np.int64)]) for c in columns)
        place = _ranks([_place(p) for p in parts])
        kind = np.array([_KINDS.index(p.kind) for p in parts], dtype=np.int64)
        if len(parts) > 1:
            order = ordering(label, place[number_of], row, kind[number_of])
            if order is not None:
                label, row, number_of = label[order], row[order], number_of[order]
        return pa.table(
            {
                "row": self.labels.at(label),
                "dataset": _words(number_of, [str(p.at.version.dataset) for p in parts]),
                "version": _words(number_of, [p.at.version.id for p in parts]),
                "occurrence": np.array([p.occurrence for p in parts], dtype=np.int32)[number_of],
                "related_row": row,
                "kind": _words(number_of, [p.kind for p in parts]),
                **({"gone": np.array([p.gone for p in parts], dtype=np.bool_)[number_of]} if self._all else {}),
            }
        )

    @property
    def _all(self) -> bool:
        return self.versions == "all"


def _place(part: Stand) -> tuple[str, str, int]:
    return str(part.at.version.dataset), part.at.version.id, part.occurrence


def about(
    asked: Version,
    direction: str,
    stops: Sequence[Stop],
    ends: Sequence[End] = (),
    trusted: Sequence[Trusted] = (),
    gone: Sequence[Gone] = (),
    used: Sequence[VersionUsed] = (),
) -> dict[bytes, str | bytes]:
    """What the metadata of an answer's table say: the question, and where the answer is less than it could be."""
    told = {"dataset": str(asked.dataset), "version": asked.id, "direction": direction, "stops": jsonable(tuple(stops))}
    more = (("ends", ends), ("trusted", trusted), ("gone", gone), ("versions", used))
    told |= {name: jsonable(tuple(some)) for name, some in more if some}
    return {METADATA: json.dumps(told)}


def _told(answer: pa.Table | Tabular, name: str) -> list[dict[str, Any]]:
    return said(written(answer), name)


def stops_of(answer: pa.Table | Tabular) -> tuple[Stop, ...]:
    """Where the answer in a table is less than it could be, from the table's metadata."""
    return tuple(Stop(**stop) for stop in _told(answer, "stops"))


def ends_of(answer: pa.Table | Tabular) -> tuple[End, ...]:
    """The data sets on drivers that the rows asked about reached, from the table's metadata."""
    return tuple(End(**end) for end in _told(answer, "ends"))


def trusted_of(answer: pa.Table | Tabular) -> tuple[Trusted, ...]:
    """What an answer leaves out because it is trusted, from the table's metadata."""
    return tuple(Trusted(**one) for one in _told(answer, "trusted"))


def gone_of(answer: pa.Table | Tabular) -> tuple[Gone, ...]:
    """The rows that were found and are in no current version, counted by step, from the table's metadata."""
    return tuple(Gone(**one) for one in _told(answer, "gone"))


def versions_of(answer: pa.Table | Tabular) -> tuple[VersionUsed, ...]:
    """The versions whose row ids an answer tells, and what chose each, from the table's metadata.

    The version asked about comes first.
    """
    return tuple(VersionUsed(**one) for one in _told(answer, "versions"))


def possible_of(answer: pa.Table | Tabular) -> pa.Table:
    """The possible edges of an answer, as a table of the same columns, from the table's metadata."""
    table = written(answer)
    data = (table.schema.metadata or {}).get(POSSIBLE)
    if data is None:
        return both_names(table.slice(0, 0).replace_schema_metadata(None))
    return both_names(pa.ipc.open_stream(pa.BufferReader(data)).read_all())


def _dump_possible(lines: pa.Table) -> bytes:
    """Write possible edges as the metadata of a table hold them: a stream of Arrow's."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, lines.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(lines)
    return bytes(sink.getvalue())


def _ranks(keys: list[tuple[str, str, int]]) -> Int64:
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _words(codes: Int64, words: list[str]) -> pa.Array:
    """A dictionary array; equal words share a code."""
    distinct = list(dict.fromkeys(words))
    renumber = np.array([distinct.index(w) for w in words], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(renumber[codes]), pa.array(distinct, pa.string()))
