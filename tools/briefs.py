"""Answers of questions in a few words, for docs/questions.md."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pipelines
import pyarrow as pa

from provspark.index_store.query.tabular import Tabular

__all__ = ["brief", "name", "short"]


def brief(answer: Any) -> str:
    """An answer in a few words."""
    if hasattr(answer, "passages"):
        return _history(answer)
    if hasattr(answer, "paths"):
        return _paths(answer)
    if isinstance(answer, (pa.Table, Tabular)):
        return _table(answer if isinstance(answer, pa.Table) else answer.table())
    if isinstance(answer, dict):
        return "; ".join(f"{k}: {list(v) if isinstance(v, tuple) else v}" for k, v in answer.items())
    if isinstance(answer, list):
        return _some([f"`{a}`" for a in answer]) if answer else "nothing"
    return _endings(answer) or "no record was dropped"


def _history(history: Any) -> str:
    """The operations of each write that were replayed, and where rows and columns ended."""
    passages = [f"{name(p.dataset)} ({len(p.replayed.stages) if p.replayed else p.why})" for p in history.passages]
    drops = [f"`{short(d.text)}` in {name(d.dataset)}" for d in history.drops]
    ended = _endings(history.endings)
    if history.columns:
        told = [f"column dropped by {_some(drops)}"] * bool(drops) + [f"record dropped by {ended}"] * bool(ended)
        return "; ".join(told) or "not dropped"
    return f"operations replayed: {', '.join(passages)}; records dropped: {len(history.endings)}"


def _endings(endings: Any) -> str:
    return _some([f"`{short(str(e))}`" for _, e in endings])


def _paths(how: Any) -> str:
    """What each path leads to, and by how many operations."""
    counts = Counter(path for path, _ in how.lines())
    ends: dict[int, dict[str, None]] = {}
    for line in how.values() if hasattr(how, "cells") else how:
        cell = f" {line['related_column']} = {line['value']}" if "value" in line else ""
        ends.setdefault(line["path"], {})[f"{name(line['dataset'])} {line['related_row']}{cell}"] = None
    return "; ".join(
        f"{_some(list(rows))} through {counts[path]} operation{'s' * (counts[path] != 1)}"
        for path, rows in sorted(ends.items())
    )


def _values(lines: list[dict[str, Any]]) -> str:
    """The values of a cell, where they change."""
    first = [f"{lines[0]['column']} {lines[0]['value']!r}"]
    changed = [f"`{short(x['text'])}` → {x['column']} {x['value']!r}" for x in lines if x["changed"]]
    return _some([*first, *changed[-2:]], 3) + f"; {len(lines)} values in total"


def _table(answer: Any) -> str:
    names, lines = answer.column_names, answer.to_pylist()
    if "related_column" in names:
        exact = sum(line["exact"] for line in lines)
        told = dict.fromkeys(
            f"{name(line['dataset'])} {line['related_row']} {line['related_column']} ({line['dependence']})"
            for line in lines
        )
        return _some(list(told)) + (
            f"; {len(lines) - exact} of {len(lines)} lines not exact" if exact < len(lines) else ""
        )
    if "related_row" in names:
        rows: dict[str, list[int]] = {}
        for line in lines:
            kind = "" if line["kind"] == "data" else ", context"
            rows.setdefault(f"{name(line['dataset'])}{kind}", []).append(line["related_row"])
        return "; ".join(f"{n}: {_some(list(map(str, sorted(r))))}" for n, r in sorted(rows.items())) or "no row"
    if "known_as" in names:
        return _some(
            [
                f"`{short(line['text'])}` in {name(line['dataset'])}; "
                + (f"computed from it: {_some(line['into'])}" if line["into"] else "no column was computed from it")
                for line in lines
            ]
        )
    if "changed" in names:
        return _values(lines)
    if "categories" in names:
        counts = Counter(c for line in lines for c in line["categories"])
        return f"{len(lines)} operations: " + ", ".join(f"{n} {c}" for c, n in counts.most_common())
    if "rows_out" in names:
        return _some([f"`{short(line['text'])}` {line['rows_in']} → {line['rows_out']}" for line in lines])
    told = {(line["column"], line["measure"]): line for line in lines}
    columns = {c for c, _ in told if c is not None}
    if len(columns) == 1:
        (column,) = columns
        return "; ".join(
            f"{m} {_number(line['before'])} → {_number(line['after'])}"
            for (c, m), line in told.items()
            if c == column and m in ("nulls", "distinct", "mean", "deviation")
        )
    came = sum(told[c, "count"]["before"] is None for c in columns)
    went = sum(told[c, "count"]["after"] is None for c in columns)
    rows_line = told[None, "rows"]
    return (
        f"rows {_number(rows_line['before'])} → {_number(rows_line['after'])}; columns: {came} added, {went} dropped, "
        f"{len(columns) - came - went} kept"
    )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.6g}"


def _some(texts: list[str], most: int = 3) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most:,} more" if len(texts) > most else "")


def short(text: str, width: int = 60) -> str:
    """The beginning of a text, without paths of this machine."""
    text = re.sub(r"file://\S*/", "", text.replace(str(pipelines.EXAMPLES) + "/", "")).replace("`", "'")
    return text if len(text) <= width else text[: width - 1] + "…"


def name(dataset: str) -> str:
    """The last part of a data set's name."""
    return dataset.rstrip("/").rsplit("/", 1)[-1]
