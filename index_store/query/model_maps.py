"""Columns computed by models: the output columns that a model made, and the columns that it was fitted to."""

from __future__ import annotations

import json
from collections.abc import Iterator

from provspark.index_store.query.bits import ROWS, BitEntry, Bits, bit, union
from provspark.index_store.query.column_maps import WayChoice, carried_on, names_of
from provspark.index_store.query.memo import kept
from provspark.index_store.query.nodes import WriteNode
from provspark.model.operations import Operation

__all__ = ["model_map"]

_COLUMNWISE = frozenset({"ImputerModel", "StringIndexerModel", "OneHotEncoderModel"})
"""Models that compute each output column from what they learned of one input column."""


@kept
def model_map(node: WriteNode, read: WriteNode, ways: WayChoice = "all") -> Bits:
    """Map the output columns of a write to the columns that a model was fitted to.

    A column that the model made, or that was computed from such a column, may come from every column of the fit. If it
    is unknown which operations apply the model, every output column may. Loaded models and the files of a model have
    no columns: `ROWS` represents them.
    """
    parts = []
    outs = range(1, 1 + len(names_of(node.output)))
    for kind in node.kinds_to(read) - {"possible"}:
        context = kind == "context"
        applied = _applied(node, read)
        if applied:
            begins = {op.index: _learned(node, op, read, context=context) for op in applied}
            some = carried_on(node, begins, ways)
        else:
            via = 1 << len(node.operations)
            some = Bits.of(_blurred(outs, _places(read), via, context=context))
        parts.append(some if ways != "sure" else some.emptied(1 << len(node.operations)))
        one, via = bit("identity", context), 1 << len(node.operations)
        parts.append(Bits.of([(ROWS, ROWS, one, one, via, 0)] * bool(outs)))
    return union(parts)


def _places(read: WriteNode) -> range | list[int]:
    return range(1, 1 + len(names_of(read.output))) or [ROWS]


def _blurred(outs: range, there: range | list[int], via: int, *, context: bool) -> Iterator[BitEntry]:
    mask = bit("transformation", context)
    yield from ((out, src, mask, 0, via, via) for out in outs or [ROWS] for src in there)


def _applied(node: WriteNode, read: WriteNode) -> list[Operation]:
    """Return the operations that apply a model: those with parameters that name columns of its fit, or else all."""
    told = [op for op in node.operations if "transformer" in dict(op.details) and op.children]
    learned = [op for op in told if dict(op.details)["transformer"].endswith("Model")]
    fitted = set(names_of(read.output))
    return [op for op in learned if fitted & set(_named(op))] or learned or told


def _learned(node: WriteNode, op: Operation, read: WriteNode, *, context: bool) -> Bits:
    """Map the columns that an operation makes with a model to the columns of the fit."""
    known = {c.id for i in op.children for c in node.operations[i].columns}
    names, via = names_of(read.output), 1 << op.index
    pairs = _pairs(op)
    mask = bit("transformation", context)
    entries: list[BitEntry] = []
    for c in op.columns:
        if c.id not in known:
            mine = [1 + names.index(n) for n in pairs.get(c.name, ()) if n in names]
            entries += [(c.id + 1, src, mask, 0, via, via) for src in mine or _places(read)]
    return Bits.of(entries)


def _parameters(op: Operation) -> dict[str, object]:
    text = dict(op.details).get("parameters", "")
    told = json.loads(text) if text else {}
    return told if isinstance(told, dict) else {}


def _named(op: Operation) -> Iterator[str]:
    for value in _parameters(op).values():
        yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str))


def _pairs(op: Operation) -> dict[str, list[str]]:
    """Return the column that a columnwise model learned from, by the column that it makes."""
    if dict(op.details)["transformer"].rpartition(".")[2] not in _COLUMNWISE:
        return {}
    told = _parameters(op)
    pairs: dict[str, list[str]] = {}
    for inputs, outputs in (("inputCols", "outputCols"), ("inputCol", "outputCol")):
        ins, outs = (v if isinstance(v := told.get(name), list) else [v] for name in (inputs, outputs))
        if len(ins) == len(outs):
            pairs |= {out: [i] for i, out in zip(ins, outs, strict=True) if isinstance(i, str) and isinstance(out, str)}
    return pairs
