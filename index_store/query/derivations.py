"""Answer of `derivations`, which can be sliced, projected and read in pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from provspark.index_store.query.intersections import same_pairs
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import WriteNode
from provspark.index_store.query.notebook import SHOWN, listed, table_html
from provspark.index_store.query.relation import compose, image
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import METADATA, Tabular
from provspark.index_store.query.tuples import TensorPath, derivations, leaves
from provspark.index_store.query.walk import Stand
from provspark.model.arrays import Int64
from provspark.model.boxes import Boxes
from provspark.model.errors import ConditionError, UntrackedError
from provspark.model.runs import Runs
from provspark.model.wording import counted

PAGE = 65_536


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A column of the derivations: one reading of an input, on one path through the plan."""

    step: str
    write: int
    dataset: str
    version: str
    occurrence: int
    name: str
    """Name of the column in tables."""


@dataclass(frozen=True, eq=False, repr=False)
class Derivations(Tabular):
    """The derivations of rows (see docs/glossary.md), in the steps that wrote them: a row of each occurrence, or null.

    Derivations are enumerated on demand, with at most a page of them in memory. `len` enumerates all pages.
    """

    labels: Runs
    sources: tuple[tuple[WriteNode, Boxes], ...]
    """The writes that made the rows, each with the relation from labels to rows of its output."""
    ways: Mapping[Occurrence, tuple[WriteNode, TensorPath]]
    kept: tuple[Occurrence, ...]
    within: Mapping[Occurrence, Runs] = field(default_factory=dict)
    told: pa.Table | None = None
    """All derivations, if the answer was unpickled; those of a slice or a projection are read from the store."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Derivations):
            return NotImplemented
        if (self.labels, self.kept, self.ways.keys()) != (other.labels, other.kept, other.ways.keys()):
            return False
        mine, theirs = ({(node.step, node.write.index): boxes for node, boxes in one.sources} for one in (self, other))
        same = mine.keys() == theirs.keys() and self.within == other.within
        return same and all(same_pairs(boxes, theirs[key]) for key, boxes in mine.items())

    def __hash__(self) -> int:
        return hash((self.kept, frozenset(self.ways)))

    def __getstate__(self) -> dict[str, Any]:
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "told": self.table()}

    @classmethod
    def of(cls, linker: Linker, start: Stand, labels: Runs) -> Derivations:
        """Find the writes that made rows.

        Raises
        ------
        UntrackedError
            A write that made some of the rows was not captured exactly, or can't be linked to them.
        """
        links = linker.links(start.at, "backward")
        sources = []
        for refusal in links.refused:
            if image(start.boxes) & refusal.rows:
                raise UntrackedError(
                    f"Rows of {start.at.version.dataset} can't be linked to the write that made them: {refusal.why}. "
                    f"Select other rows, or run the step that wrote them again."
                )
        for link in links.links:
            node = link.target.node
            rows = start.boxes if link.whole else compose(start.boxes, link.boxes)
            if not len(rows):
                continue
            if node.write.coverage != "exact":
                why = node.write.reason or "no reason was stored"
                raise UntrackedError(
                    f"Step {node.step}, which wrote {node.write.output.dataset}, was not captured exactly: {why}. "
                    f"Which of its input rows belong together is unknown. Ask backward, which needs only edges."
                )
            sources.append((node, rows))
        ways: dict[Occurrence, tuple[WriteNode, TensorPath]] = {}
        names: dict[str, int] = {}
        for node, _ in sources:
            for path in leaves(node):
                axis = node.write.axes[node.write.tensors[path[-1]].src]
                dataset = str(node.inputs[axis.version].version.dataset)
                name = f"{dataset}#{axis.occurrence}"
                names[name] = names.get(name, 0) + 1
                name += f".{names[name]}" if names[name] > 1 else ""
                column = Occurrence(node.step, node.write.index, dataset, axis.version, axis.occurrence, name)
                ways[column] = node, path
        return cls(labels, tuple(sources), ways, tuple(ways))

    @property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """The columns of the table."""
        return self.kept

    def slice(self, rows: RowSet, occurrence: int | str | None = None) -> Derivations:
        """Return the derivations whose row of an occurrence is in a set.

        Parameters
        ----------
        rows : RowSet
            Rows of a version that a step read.
        occurrence : int or str, optional
            Number or column name of the occurrence; required if the version was read more than once.

        Raises
        ------
        ConditionError
            No occurrence matches, or more than one.
        """
        matches = [o for o in self.ways if o.version == rows.version and o.dataset == rows.dataset]
        if occurrence is not None:
            matches = [o for o in matches if occurrence in (o.name, o.occurrence)]
        if len(matches) != 1:
            names = ", ".join(o.name for o in self.ways)
            raise ConditionError(
                f"{len(matches)} occurrences match {rows.dataset}, version {rows.version}, occurrence {occurrence!r}. "
                f"Pass the name of one as occurrence: {names or 'there are none'}"
            )
        known = self.within.get(matches[0])
        runs = rows.runs if known is None else known & rows.runs
        return replace(self, within={**self.within, matches[0]: runs}, told=None)

    def project(self, occurrences: Iterable[Occurrence | str]) -> Derivations:
        """Return the derivations with some columns only, each distinct combination once for each row.

        Raises
        ------
        ConditionError
            A column is not one of `occurrences`.
        """
        names = {o.name: o for o in self.ways}
        kept = []
        for wanted in occurrences:
            name = wanted if isinstance(wanted, str) else wanted.name
            if name not in names:
                raise ConditionError(f"No occurrence {name!r}. Pass one of: {', '.join(names) or 'there are none'}")
            kept.append(names[name])
        return replace(self, kept=tuple(dict.fromkeys(kept)), told=None)

    def batches(self, size: int = PAGE) -> Iterator[pa.Table]:
        """Yield the derivations in pages of at most `size`: the row, and for each occurrence the source row or null.

        Row ids ascend within the output of one write.
        """
        if size < 1:
            raise ConditionError(f"size must be at least 1, found {size}")
        if self.told is not None:
            yield from (self.told.slice(at, size) for at in range(0, self.told.num_rows, size))
            return
        for node, rows in self.sources:
            mine = {o: path for o, (n, path) in self.ways.items() if n is node}
            within = {mine[o]: runs for o, runs in self.within.items() if o in mine}
            if len(within) < len(self.within):
                continue  # another step read the sliced rows
            keep = [mine[o] for o in self.kept if o in mine]
            for page in derivations(node, rows, keep, within, size):
                if len(page.labels):
                    columns = [page.columns.get(mine[o]) if o in mine else None for o in self.kept]
                    yield self._table(self.labels.at(page.labels), columns)

    def table(self, limit: int | None = None) -> pa.Table:
        """Return all derivations, or the first `limit`, as one table."""
        pages, n = [self._table(np.zeros(0, dtype=np.int64), [None] * len(self.kept))], 0
        for page in self.batches(PAGE if limit is None else max(1, min(limit, PAGE))):
            if limit is not None and n >= limit:
                break
            pages.append(page if limit is None else page.slice(0, limit - n))
            n += len(pages[-1])
        return pa.concat_tables(pages)

    def __len__(self) -> int:
        return sum(page.num_rows for page in self.batches())

    def __bool__(self) -> bool:
        return any(page.num_rows for page in self.batches(1))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for page in self.batches():
            yield from page.to_pylist()

    def _whole(self) -> pa.Table:
        return self.table()

    def _first(self, most: int) -> pa.Table:
        return self.table(most)

    def _repr_html_(self) -> str:
        first = self.table(SHOWN + 1)
        more = [f"the first {SHOWN} derivations; len() counts them"] if first.num_rows > SHOWN else []
        return table_html(first.slice(0, SHOWN), more)

    def __repr__(self) -> str:
        rows = counted(self.labels.count, "row")
        return f"<derivations of {rows} from {listed(o.name for o in self.kept) or 'no input'}>"

    def _table(self, rows: Int64, columns: Sequence[Int64 | None]) -> pa.Table:
        arrays = [pa.array(rows)]
        for column in columns:
            arrays.append(pa.nulls(len(rows), pa.int64()) if column is None else pa.array(column, mask=column < 0))
        about = [{name: getattr(o, name) for name in Occurrence.__slots__} for o in self.kept]
        table = pa.Table.from_arrays(arrays, names=["row", *(o.name for o in self.kept)])
        return table.replace_schema_metadata({METADATA: json.dumps({"occurrences": about})})
