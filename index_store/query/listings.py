"""Tables of datasets and steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from provspark.index_store.query.current_versions import Currents
from provspark.index_store.query.graph import Graph
from provspark.index_store.store.leftovers import begun, notes_of
from provspark.index_store.store.notes import Note
from provspark.index_store.store.store import Store
from provspark.model.driver_datasets import sources
from provspark.model.steps import Manifest

__all__ = ["datasets", "steps", "unfinished"]


def datasets(currents: Currents) -> pa.Table:
    """Return the table of `Provenance.datasets`."""
    lines, graph = [], currents.graph
    for dataset in graph.datasets():
        references = graph.references(dataset)
        best = currents.of(dataset, ask=False).at
        derived = best is best.node.output
        lines.append(
            (
                str(dataset),
                len({s.version.id for s in references}),
                best.version.id,
                best.version.rows,
                best.node.step if derived else None,
                "derived" if dataset in graph.written.by_name else "source",
                best.node.write.coverage if derived else None,
            )
        )
    return _table(_DATASETS, lines)


def steps(graph: Graph) -> pa.Table:
    """Return the table of `Provenance.steps`."""
    return _table(_STEPS, [_step_line(m) for m in graph.manifests])


def unfinished(stores: Iterable[Store]) -> pa.Table:
    """Return the table of `Provenance.unfinished`."""
    return _table(_STEPS, [_note_line(notes[0]) for s in stores for step in begun(s) if (notes := notes_of(s, step))])


_TEXTS = pa.list_(pa.string())
_DATASETS = pa.schema(
    [
        ("dataset", pa.string()),
        ("versions", pa.int64()),
        ("version", pa.string()),
        ("rows", pa.int64()),
        ("step", pa.string()),
        ("role", pa.string()),
        ("coverage", pa.string()),
    ]
)
_STEPS = pa.schema(
    [
        ("step", pa.string()),
        ("dag_id", pa.string()),
        ("run_id", pa.string()),
        ("task_id", pa.string()),
        ("map_index", pa.int64()),
        ("try_number", pa.int64()),
        ("status", pa.string()),
        ("started", pa.string()),
        ("ended", pa.string()),
        ("inputs", _TEXTS),
        ("outputs", _TEXTS),
        ("coverage", pa.string()),
        ("reasons", _TEXTS),
        ("error", pa.string()),
    ]
)


def _table(schema: pa.Schema, lines: list[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, line, strict=True)) for line in lines], schema)


def _note_line(note: Note) -> tuple[Any, ...]:
    key = note.key
    outputs = sorted({str(w.output.dataset) for w in note.writes})
    return (
        *(key.id, key.dag_id, key.run_id, key.task_id, key.map_index, key.try_number),
        *("unfinished", note.begun, "", [], outputs, None),
        ["the step was not published: its process still runs, or was killed"],
        "",
    )


def _step_line(m: Manifest) -> tuple[Any, ...]:
    reasons = [str(u) for u in m.untracked] + [str(w.reason) for w in m.writes if w.reason]
    coverages = {w.coverage for w in m.writes} | ({"untracked"} if m.untracked else set())
    coverage = next((c for c in ("untracked", "coarse", "exact") if c in coverages), None)
    inputs = sorted({str(v.dataset) for v in sources(m)})
    outputs = sorted({str(w.output.dataset) for w in m.writes})
    k = m.key
    key = (m.step, k.dag_id, k.run_id, k.task_id, k.map_index, k.try_number)
    return (*key, m.status, m.started, m.ended, inputs, outputs, coverage, reasons, m.error)
