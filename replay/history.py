"""History of rows across steps: their sources, the rows derived from them, and where they ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from provspark.index_store.query.column_maps import names_of
from provspark.index_store.query.column_trail import Trail, trails
from provspark.index_store.query.dropped_columns import Drop, drops_of
from provspark.index_store.query.helper_columns import meanings
from provspark.index_store.query.links import Linker
from provspark.index_store.query.nodes import Direction, VersionReference, WriteNode
from provspark.index_store.query.notebook import graph_html, listed, table_html
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.tabular import Tabular
from provspark.model.errors import ReplayCancelledError, ReplayError, ValuesUnavailableError, VersionChangedError
from provspark.model.operations import Column, Operation
from provspark.model.runs import Runs
from provspark.model.wording import counted
from provspark.replay.columns import distinct, told_names
from provspark.replay.crossings import ahead, back
from provspark.replay.records import Replayed, ReplayEnding, ended_table
from provspark.replay.replayer import Replayer

__all__ = ["History", "Passage", "replay_history"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Rows that pass through one write."""

    direction: Direction
    step: str
    write: int
    dataset: str
    """The dataset that the write made."""
    rows: tuple[tuple[str, Runs], ...]
    """Datasets with their rows: backward the output, forward each input."""
    replayed: Replayed | None
    why: str = ""
    """Why the write could not be replayed; empty if it was, or if no replay was requested."""
    trail: tuple[tuple[Operation, tuple[Column, ...]], ...] = ()
    """For selected columns: the operations that they pass, each with the columns that contain their values after it."""
    inputs: tuple[str, ...] = ()
    """The datasets that the write read."""
    own: Mapping[int, str] = field(default_factory=dict, compare=False)
    """Expressions of columns that Spark added to the write, by column id."""

    def told_trail(self) -> list[tuple[Operation, list[str]]]:
        """Return `trail` with the names of the columns, each once."""
        return [(o, list(dict.fromkeys(told_names(columns, self.own)))) for o, columns in self.trail]

    @property
    def endings(self) -> tuple[ReplayEnding, ...]:
        """Endings of rows that have no other derived row in the write."""
        return tuple(e for e in self.replayed.endings if e.whole) if self.replayed else ()

    def as_dict(self) -> dict[str, Any]:
        """Return the passage in JSON form, except for row values, which stay Python objects."""
        return {
            "direction": self.direction,
            "step": self.step,
            "dataset": self.dataset,
            "rows": [{"dataset": d, "rows": r.rows()[:1000].tolist(), "count": r.count} for d, r in self.rows],
            "why": self.why,
            "trail": [{"operation": o.index, "text": o.text, "columns": names} for o, names in self.told_trail()],
            "replay": self.replayed.as_dict() if self.replayed else None,
        }


@dataclass(frozen=True, slots=True, repr=False)
class History(Tabular):
    """The sources of rows and the rows derived from them, write by write, with the operations between.

    `passages` are in the order of the data flow: first the writes that the rows came through, then those that they
    went into.
    """

    dataset: str
    version: str
    rows: Runs
    passages: tuple[Passage, ...]
    columns: tuple[str, ...] = ()
    """The selected columns; empty for the history of whole rows."""
    drops: tuple[Drop, ...] = ()
    """Operations that dropped these columns, if the rows reached them."""

    @property
    def endings(self) -> tuple[tuple[Passage, ReplayEnding], ...]:
        """Endings of the rows, or of rows derived from them, each with its passage."""
        return tuple((p, e) for p in self.passages if p.direction == "forward" for e in p.endings)

    def __repr__(self) -> str:
        writes = counted(len(self.passages), "write")
        rows = f"{self.rows.count:,} rows of {listed([self.dataset])}"
        return f"<history of {rows}: {writes}, {len(self.endings):,} endings>"

    def _repr_html_(self) -> str:
        """Return the datasets and the writes between them as a graph, and the operations as a table."""
        counts = {self.dataset: self.rows.count}
        flows: dict[tuple[str, str, str], None] = {}
        for passage in self.passages:
            for name, runs in passage.rows:
                counts[name] = max(runs.count, counts.get(name, 0))
            flows |= dict.fromkeys((name, passage.dataset, passage.step) for name in passage.inputs)
        number = {name: i for i, name in enumerate(dict.fromkeys([*counts, *(n for a, b, _ in flows for n in (a, b))]))}
        boxes = [(name, counted(counts[name], "row") if name in counts else "") for name in number]
        graph = graph_html(boxes, [(number[a], number[b], step) for a, b, step in flows])
        return graph + table_html(self.table())

    def table(self) -> pa.Table:
        """Return one line for each operation that the rows or the selected columns passed.

        Columns: step, dataset, operation, text, site, columns (which contain the selected columns' values after the
        operation), lines, ended, cause. Each dropped column has a line of its own with the cause *column dropped*.
        """
        lines: list[dict[str, Any]] = []
        for passage in self.passages:
            about: dict[str, Any] = {"step": passage.step, "dataset": passage.dataset}
            if passage.why:
                lines.append({**about, "text": passage.why})
            trail = {o.index: names for o, names in passage.told_trail()}
            told = passage.replayed
            ended = {e.operation.index: e for e in passage.endings}
            passed = {s.operation.index: s for s in told.stages} if told else {}
            for operation in told.operations if told else [o for o, _ in passage.trail]:
                stage, end = passed.get(operation.index), ended.get(operation.index)
                on_way = operation.index in trail if self.columns else bool(stage)
                if end or (on_way and (stage or not told)):
                    here = {"operation": operation.index, "text": operation.text, "site": operation.site}
                    here["columns"] = trail.get(operation.index)
                    if told:
                        here["lines"] = len(stage.lines) if stage else 0
                        here |= {"ended": len(end.lines) if end else 0, "cause": end.cause if end else None}
                    lines.append({**about, **here})
            for d in self.drops if passage.direction == "forward" else ():
                if (d.step, d.write) == (passage.step, passage.write):
                    here = {"operation": d.operation, "text": d.text, "site": d.site, "columns": [d.known_as]}
                    lines.append({**about, **here, "cause": "column dropped"})
        return pa.Table.from_pylist(lines, schema=_SCHEMA)

    def cells(self) -> pa.Table:
        """Return one line for each value of the selected columns, after each operation that they passed.

        Columns: step, dataset, operation, text, site, line, column, value (as text), changed. Empty if no columns were
        selected or no rows were replayed.
        """
        lines: list[dict[str, Any]] = []
        for passage in self.passages:
            trail = {o.index: columns for o, columns in passage.trail}
            for stage in passage.replayed.stages if passage.replayed else ():
                o = stage.operation
                about = {"step": passage.step, "dataset": passage.dataset, "operation": o.index, "text": o.text}
                for number, line in enumerate(stage.lines):
                    for column, name, value in zip(distinct(o.columns), stage.columns, line.values, strict=True):
                        if column in trail.get(o.index, ()):
                            told = {"column": name, "value": None if value is None else str(value)}
                            changed = name in line.changed or name in line.added
                            lines.append({**about, "site": o.site, "line": number, **told, "changed": changed})
        return pa.Table.from_pylist(lines, schema=_CELLS)

    def ended(self) -> pa.Table:
        """Return one line for each row that ended, of the selected rows or those derived from them: where, and why.

        Columns: dataset, version, row, step, operation, text, site, cause, kept (for a duplicate, the rows that were
        kept instead).
        """
        return ended_table((p.step, e) for p, e in self.endings)

    def as_dict(self) -> dict[str, Any]:
        """Return the history in JSON form, except for row values, which stay Python objects."""
        return {
            "dataset": self.dataset,
            "version": self.version,
            "rows": self.rows.rows()[:1000].tolist(),
            "count": self.rows.count,
            "columns": list(self.columns),
            "drops": [{n: getattr(d, n) for n in Drop.__slots__} for d in self.drops],
            "passages": [p.as_dict() for p in self.passages],
        }


_SCHEMA = pa.schema(
    [
        ("step", pa.string()),
        ("dataset", pa.string()),
        ("operation", pa.int64()),
        ("text", pa.string()),
        ("site", pa.string()),
        ("columns", pa.list_(pa.string())),
        ("lines", pa.int64()),
        ("ended", pa.int64()),
        ("cause", pa.string()),
    ]
)
_CELLS = pa.schema(
    [
        *((name, pa.string()) for name in ("step", "dataset")),
        *(("operation", pa.int64()), ("text", pa.string()), ("site", pa.string()), ("line", pa.int64())),
        *(("column", pa.string()), ("value", pa.string()), ("changed", pa.bool_())),
    ]
)


def replay_history(
    replayer: Replayer,
    behind: Linker,
    onward: Linker,
    chosen: RowSet,
    direction: Literal["backward", "forward", "both"] = "both",
    positions: Sequence[int] = (),
    *,
    replayed: bool = True,
) -> History:
    """Replay each write that rows came through or went into.

    Parameters
    ----------
    behind, onward : Linker
        Find the links backward and forward.
    positions : sequence of int
        Positions of the columns to follow, from 1; empty for whole rows.
    replayed : bool
        False for the history of columns without rows, which needs no replay.
    """
    passages: list[Passage] = []
    drops: tuple[Drop, ...] = ()

    def told(node: WriteNode, replay: Callable[[], Replayed]) -> tuple[Replayed | None, str]:
        return _told(node, replay) if replayed else (None, "")

    if direction != "forward":
        on_way = _trails(behind, chosen.at, positions, "backward")
        for node, runs in back(behind, chosen.at, chosen.runs):
            answer = told(node, lambda node=node, runs=runs: replayer.outputs(node, runs))  # type: ignore[misc]
            passages.insert(0, _passage("backward", node, ((str(node.write.output.dataset), runs),), answer, on_way))
    if direction != "backward":
        on_way = _trails(onward, chosen.at, positions, "forward")
        for node, inputs in ahead(onward, chosen.at, chosen.runs):
            answer = told(node, lambda node=node, inputs=inputs: replayer.inputs(node, inputs))  # type: ignore[misc]
            named = tuple((str(node.inputs[v].version.dataset), runs) for v, runs in inputs.items())
            passages.append(_passage("forward", node, named, answer, on_way))
        drops = drops_of(onward, chosen.at, list(positions)).lines
    names = names_of(chosen.at)
    columns = tuple(names[p - 1] for p in positions)
    every = tuple(p for p in passages if p.trail or not positions or p.why)
    reached = tuple(d for d in drops if not replayed or any(_is_reached(d, p) for p in passages))
    return History(chosen.dataset, chosen.version, chosen.runs, every, columns, reached)


def _trails(
    linker: Linker, at: VersionReference, positions: Sequence[int], direction: Direction
) -> dict[WriteNode, Trail]:
    return {t.node: t for t in trails(linker, at, set(positions), direction)} if positions else {}


def _is_reached(drop: Drop, passage: Passage) -> bool:
    """Whether rows reached, or may have reached, the operation that dropped a column."""
    if passage.direction != "forward" or (passage.step, passage.write) != (drop.step, drop.write):
        return False
    told = passage.replayed
    if told is None or any(o.index <= drop.operation for o, _ in told.stopped):
        return True
    operation = told.operations[drop.operation]
    return any(told.stage(i) is not None for i in (operation.index, *operation.children))


def _passage(
    direction: Direction,
    node: WriteNode,
    rows: tuple[tuple[str, Runs], ...],
    answer: tuple[Replayed | None, str],
    on_way: Mapping[WriteNode, Trail],
) -> Passage:
    trail = on_way.get(node)
    named = tuple((o, trail.of(o)) for o in node.operations if trail.of(o)) if trail else ()
    made = str(node.write.output.dataset)
    read = tuple(dict.fromkeys(str(at.version.dataset) for at in node.inputs.values()))
    return Passage(direction, node.step, node.write.index, made, rows, *answer, named, read, meanings(node.operations))


def _told(node: WriteNode, replay: Callable[[], Replayed]) -> tuple[Replayed | None, str]:
    """Replay a write, or return why it can't be replayed."""
    if node.write.coverage == "untracked":
        return None, f"not tracked: {node.write.reason or 'no reason was stored'}"
    try:
        return replay(), ""
    except ReplayCancelledError:
        raise
    except (ReplayError, ValuesUnavailableError, VersionChangedError) as e:
        return None, str(e)
