"""Answers of `backward` and `forward`: the rows of other datasets that the selected rows come from or go into."""

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
    """Rows that a script read on its driver, and that no captured write certainly used afterwards.

    Parameters
    ----------
    dataset : str
        For example ``memory://driver/clean.py:12``: the script and the line that read the rows.
    version, step : str
    rows : int
        Number of its rows that the answer reaches.
    """

    dataset: str
    version: str
    step: str
    rows: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows were read on the driver of step {self.step}: {self.dataset}"


def ends_at(stands: Iterable[Stand]) -> tuple[End, ...]:
    """Count the rows reached of each dataset on a driver."""
    sets: dict[tuple[str, str, str], Runs] = {}
    for stand in stands:
        version = stand.at.version
        key = (str(version.dataset), version.id, stand.at.node.step)
        sets[key] = sets.get(key, Runs.span(0)) | image(stand.boxes)
    return tuple(sorted(End(*key, rows.count) for key, rows in sets.items()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(FormerTable):
    """The rows that `backward` or `forward` returns (an *answer* in docs/glossary.md), stored as ranges of row ids.

    `table` lists them, `len` counts the rows of that table, and iteration yields them as dictionaries. ``a | b``,
    ``a & b`` and ``a - b`` combine the tables of two answers as sets.
    """

    asked: Version
    labels: Runs
    """The selected rows; label i is the i-th of them."""
    direction: str
    parts: tuple[Stand, ...]
    """Sorted by dataset, version, occurrence and kind."""
    stops: tuple[Stop, ...] = field()  # without it, the parent's property would be the default
    possible_parts: tuple[Stand, ...] = ()
    """Rows that the selected rows may have come from or gone into, through code that capture can't see into."""
    ends: tuple[End, ...] = ()
    """Datasets on drivers where paths end."""
    trusted: tuple[Trusted, ...] = ()
    """Stops, possible edges and ends that are left out because the question trusts them."""
    beside: tuple[Stand, ...] = ()
    """For `forward` to a dataset: rows that were written to a folder above it or inside it."""
    older: tuple[Stand, ...] = ()
    """Related rows that are in no current version of their dataset, in the versions in which they were found."""
    used: tuple[VersionUsed, ...] = ()
    """The versions that the row ids refer to: first that of the selected rows, then those of the related rows."""
    currents: tuple[Current, ...] = ()
    """The current versions that the ids of related rows refer to."""
    names: Currents | None = None
    """The object that found `currents`."""
    versions: Literal["current", "all"] = "current"
    """With ``all``, `parts` also has rows that are in no current version, in the version in which they were found."""

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
        """Build an answer from what a walk reached by the requested kinds of edges.

        Raises
        ------
        UntrackedError
            No rows were reached, because a path stopped where lineage is missing.
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
        """Counts of the rows in no current version, by the step that removed their files."""
        return self.names.gone(self.older) if self.names and self.older else ()

    def now(self, currents: Currents, to: Dataset | None, versions: Literal["current", "all"]) -> Answer:
        """Convert the row ids to those of current versions, and rows of `beside` to rows of `to`.

        Parameters
        ----------
        versions : {"current", "all"}
            With ``all``, rows that are in no current version stay, in the version in which they were found.
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
        """An answer with only the possible edges."""
        return replace(self, parts=self.possible_parts, possible_parts=())

    @property
    def exact(self) -> bool:
        """Whether the answer is complete and certain: no stop, no end on a driver and no possible edge."""
        sure = all(part.kind != "possible" for part in self.parts)
        return sure and not self.stops and not self.possible_parts and not self.ends

    @property
    def rows(self) -> RowSet:
        """The related rows, as a set that you can pass to the next question.

        Raises
        ------
        ConditionError
            The rows are of several versions, or there are none.
        """
        return only(self.found())

    def values(self, columns: Sequence[str] | None = None) -> Values:
        """Read the values of the related rows: one row for each row of `table`, in the same order within a version.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns of the rows' dataset. Default: all.

        Returns
        -------
        Values
            Its table has the columns dataset, version and row, and those of the dataset. If the rows are of several
            datasets, `Values.tables` has one table for each.

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
        """Return the related rows as one set for each version, over all occurrences, kinds and selected rows."""
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
        """Combine two answers by selected row, version, occurrence, related row and kind."""
        if isinstance(other, FormerAnswer):
            other = other.answer
        if not isinstance(other, Answer):
            raise ArgumentError(
                f"The operators |, & and - combine an answer with another answer, found {other!r}. Pass an answer of "
                f"backward or forward."
            )
        if self.asked.id != other.asked.id:
            raise ConditionError(
                f"The answers can't be combined: one is about rows of version {self.asked.id} of {self.asked.dataset}, "
                f"the other about rows of version {other.asked.id} of {other.asked.dataset}. Ask both questions about "
                f"the same version."
            )
        self._told_alike(other)
        labels = self.labels | other.labels
        parts, older = (self._merged(other, labels, how, of) for of in ("parts", "older"))
        direction = self.direction if self.direction == other.direction else "both"
        # Stops, ends and possible edges of either answer apply to the result of each operator.
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
        """Raise `ConditionError` if the answers use different current versions of a dataset: their row ids differ."""
        mine = {c.at.version.dataset: c for c in self.currents}
        for there in other.currents:
            here = mine.get(there.at.version.dataset, there)
            if (here.at.key, here.missing) != (there.at.key, there.missing):
                dataset, mine_id, other_id = here.at.version.dataset, here.at.version.id, there.at.version.id
                why = f"Files of {dataset} changed between the two questions"
                if mine_id != other_id:
                    why = f"The two answers use different current versions of {dataset} ({mine_id} and {other_id})"
                raise ConditionError(
                    f"{why}, so their row ids can't be combined. Ask both questions again, with the same run and as_of."
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
        """Return parts by version, occurrence, kind and `gone`, renumbered to these labels."""
        renumbered = compose(labelled(labels), transpose(labelled(self.labels)))
        return {(p.at.key, p.occurrence, p.kind, p.gone): replace(p, boxes=compose(renumbered, p.boxes)) for p in of}

    def pages(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Yield `table` in pages of at most `size` rows, each built on demand.

        There is at least one page, which may be empty. The metadata of the first contain the possible edges.
        """
        ranks = _ranks([_place(p) for p in self.parts]).tolist()
        possible = self.possible_parts
        for page in paged([(r, p.boxes) for r, p in zip(ranks, self.parts, strict=True)], size):
            cut = (replace(p, boxes=b) for p, b in zip(self.parts, page, strict=True) if len(b))
            yield replace(self, parts=tuple(cut), possible_parts=possible).table()
            possible = ()

    def table(self) -> pa.Table:
        """Return the distinct combinations of row, dataset, version, occurrence, related_row and kind, sorted.

        ``related_row`` is the row found: a source row for `backward`, a derived row for `forward`. With
        ``versions="all"`` there is also a column ``gone``. The schema's metadata contain the stops (see `stops_of`)
        and the counts of rows that are gone (see `gone_of`).
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
    """Return the metadata of an answer's table: the question, its stops, ends, trusted places and versions."""
    told = {"dataset": str(asked.dataset), "version": asked.id, "direction": direction, "stops": jsonable(tuple(stops))}
    more = (("ends", ends), ("trusted", trusted), ("gone", gone), ("versions", used))
    told |= {name: jsonable(tuple(some)) for name, some in more if some}
    return {METADATA: json.dumps(told)}


def _told(answer: pa.Table | Tabular, name: str) -> list[dict[str, Any]]:
    return said(written(answer), name)


def stops_of(answer: pa.Table | Tabular) -> tuple[Stop, ...]:
    """Return the stops of an answer from its table's metadata: where it ends early or is less precise."""
    return tuple(Stop(**stop) for stop in _told(answer, "stops"))


def ends_of(answer: pa.Table | Tabular) -> tuple[End, ...]:
    """Return the datasets on drivers where an answer's paths end, from its table's metadata."""
    return tuple(End(**end) for end in _told(answer, "ends"))


def trusted_of(answer: pa.Table | Tabular) -> tuple[Trusted, ...]:
    """Return what an answer leaves out because you trust it, from its table's metadata."""
    return tuple(Trusted(**one) for one in _told(answer, "trusted"))


def gone_of(answer: pa.Table | Tabular) -> tuple[Gone, ...]:
    """Return the counts of related rows that are in no current version, by step, from the table's metadata."""
    return tuple(Gone(**one) for one in _told(answer, "gone"))


def versions_of(answer: pa.Table | Tabular) -> tuple[VersionUsed, ...]:
    """Return the versions that an answer's row ids refer to, and how each was chosen, from the table's metadata.

    The version of the selected rows comes first.
    """
    return tuple(VersionUsed(**one) for one in _told(answer, "versions"))


def possible_of(answer: pa.Table | Tabular) -> pa.Table:
    """Return the possible edges of an answer as a table with the same columns, from the table's metadata."""
    table = written(answer)
    data = (table.schema.metadata or {}).get(POSSIBLE)
    if data is None:
        return both_names(table.slice(0, 0).replace_schema_metadata(None))
    return both_names(pa.ipc.open_stream(pa.BufferReader(data)).read_all())


def _dump_possible(lines: pa.Table) -> bytes:
    """Serialize possible edges for a table's metadata, as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, lines.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(lines)
    return bytes(sink.getvalue())


def _ranks(keys: list[tuple[str, str, int]]) -> Int64:
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _words(codes: Int64, words: list[str]) -> pa.Array:
    """Return a dictionary array; equal words share a code."""
    distinct = list(dict.fromkeys(words))
    renumber = np.array([distinct.index(w) for w in words], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(renumber[codes]), pa.array(distinct, pa.string()))
