"""The history of rows across steps: what made them, what became of them, and where they ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from provspark.errors import ReplayCancelledError, ReplayError, ValuesUnavailableError, VersionChangedError
from provspark.index_store.query.graph import Direction, Node
from provspark.index_store.query.links import Linker
from provspark.index_store.query.rowset import RowSet
from provspark.index_store.query.runs import Runs
from provspark.replay.crossing import ahead, back
from provspark.replay.records import Ending, Replayed
from provspark.replay.replayer import Replayer

__all__ = ["History", "Passage", "history"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Rows on their way through one write."""

    direction: Direction
    step: str
    write: int
    dataset: str
    """The data set that it made."""
    rows: tuple[tuple[str, Runs], ...]
    """Ways back: the output's rows; ways ahead: the rows of each input. Each data set with its rows."""
    replayed: Replayed | None
    why: str = ""
    """Why there is no replay."""

    @property
    def endings(self) -> tuple[Ending, ...]:
        """Where rows ended for good."""
        return tuple(e for e in self.replayed.endings if e.whole) if self.replayed else ()


@dataclass(frozen=True, slots=True)
class History:
    """All that rows derive from and all that derives from them, write by write, with the operations between.

    `passages` stand in order of the data's flow: first the writes that the rows came through, then those that they
    went into.
    """

    dataset: str
    version: str
    rows: Runs
    passages: tuple[Passage, ...]

    @property
    def endings(self) -> tuple[tuple[Passage, Ending], ...]:
        """Where rows, or rows made of them, ended for good."""
        return tuple((p, e) for p in self.passages if p.direction == "forward" for e in p.endings)

    def table(self) -> pa.Table:
        """One line for each operation that the rows passed.

        Columns: step, dataset, operation, text, site, lines, ended, cause.
        """
        lines: list[dict[str, Any]] = []
        for passage in self.passages:
            about: dict[str, Any] = {"step": passage.step, "dataset": passage.dataset}
            if passage.replayed is None:
                lines.append({**about, "text": passage.why})
                continue
            ended = {e.operation.index: e for e in passage.endings}
            passed = {s.operation.index: s for s in passage.replayed.stages}
            for operation in passage.replayed.operations:
                stage, end = passed.get(operation.index), ended.get(operation.index)
                if stage or end:
                    about |= {"operation": operation.index, "text": operation.text, "site": operation.site}
                    left = {"ended": len(end.lines) if end else 0, "cause": end.cause if end else None}
                    lines.append({**about, "lines": len(stage.lines) if stage else 0, **left})
        return pa.Table.from_pylist(lines, schema=_SCHEMA)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON takes it, but for the values."""
        return {
            "dataset": self.dataset,
            "version": self.version,
            "rows": self.rows.rows().tolist(),
            "passages": [
                {
                    "direction": p.direction,
                    "step": p.step,
                    "dataset": p.dataset,
                    "rows": [{"dataset": d, "rows": r.rows()[:1000].tolist(), "count": r.count} for d, r in p.rows],
                    "why": p.why,
                    "replay": p.replayed.as_dict() if p.replayed else None,
                }
                for p in self.passages
            ],
        }


_SCHEMA = pa.schema(
    [
        ("step", pa.string()),
        ("dataset", pa.string()),
        ("operation", pa.int64()),
        ("text", pa.string()),
        ("site", pa.string()),
        ("lines", pa.int64()),
        ("ended", pa.int64()),
        ("cause", pa.string()),
    ]
)


def history(
    replayer: Replayer,
    behind: Linker,
    before: Linker,
    chosen: RowSet,
    direction: Literal["backward", "forward", "both"] = "both",
) -> History:
    """Replay each write that rows came through or went into.

    Parameters
    ----------
    behind, before : Linker
        Which find the ways back and ahead.
    """
    passages: list[Passage] = []
    if direction != "forward":
        for node, runs in back(behind, chosen.at, chosen.runs):
            told = _told(node, lambda node=node, runs=runs: replayer.outputs(node, runs))  # type: ignore[misc]
            passages.insert(0, _passage("backward", node, ((str(node.write.output.dataset), runs),), *told))
    if direction != "backward":
        for node, inputs in ahead(before, chosen.at, chosen.runs):
            told = _told(node, lambda node=node, inputs=inputs: replayer.inputs(node, inputs))  # type: ignore[misc]
            named = tuple((str(node.inputs[v].version.dataset), runs) for v, runs in inputs.items())
            passages.append(_passage("forward", node, named, *told))
    return History(chosen.dataset, chosen.version, chosen.runs, tuple(passages))


def _passage(
    direction: Direction, node: Node, rows: tuple[tuple[str, Runs], ...], replayed: Replayed | None, why: str
) -> Passage:
    return Passage(direction, node.step, node.write.index, str(node.write.output.dataset), rows, replayed, why)


def _told(node: Node, replay: Callable[[], Replayed]) -> tuple[Replayed | None, str]:
    """Replay a write, or say why that can't be."""
    if node.write.coverage == "untracked":
        return None, f"not tracked: {node.write.reason or 'no reason was stored'}"
    try:
        return replay(), ""
    except ReplayCancelledError:
        raise
    except (ReplayError, ValuesUnavailableError, VersionChangedError) as e:
        return None, str(e)
