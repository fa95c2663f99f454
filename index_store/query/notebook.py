"""Answers as HTML for Jupyter: tables, and small graphs of versions."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from provspark.model.visible_text import visible
from provspark.model.wording import counted

__all__ = ["SHOWN", "brief", "escaped", "graph_html", "listed", "table_html"]

SHOWN = 20
"""Number of lines shown of a table."""
_BOXES = 60
_NAME = 120
_NAMES = 3
_CELL = 60
_WIDTH, _HEIGHT, _GAP = 210, 44, 60
"""Size of a box, and gap between two columns of boxes, in pixels."""


def brief(what: str, lines: int | None = None, stops: Sequence[object] = (), more: str = "") -> str:
    """Return a one-line description of an answer for `repr`."""
    length = "" if lines is None else f": {counted(lines, 'line')}"
    stopped = f", {counted(len(stops), 'stop')}" if stops else ""
    return f"<{what}{length}{more}{stopped}>"


def listed(names: Iterable[object], most: int = _NAMES) -> str:
    """Return the first `most` names, shortened if they are long, and how many more there are."""
    every = [visible(str(name)) for name in names]
    shown = [name if len(name) <= _NAME else f"…{name[1 - _NAME :]}" for name in every[:most]]
    return ", ".join(shown) + (f" and {len(every) - most:,} more" if len(every) > most else "")


def escaped(text: object) -> str:
    """Return text escaped for HTML; invisible characters are escaped as in a `repr`."""
    return html.escape(visible(str(text)))


def table_html(table: pa.Table, notes: Iterable[object] = (), lines: int | None = None) -> str:
    """Return the first lines of a table as HTML, with the number of lines and notes below.

    Parameters
    ----------
    lines : int, optional
        Number of lines of the answer, if the table contains only the first ones.
    """
    lines = table.num_rows if lines is None else lines
    columns = (column.to_pylist() for column in table.slice(0, SHOWN).columns)
    names = "".join(f"<th>{escaped(name)}</th>" for name in table.column_names)
    rows = ("".join(f"<td>{_text(value)}</td>" for value in line) for line in zip(*columns, strict=True))
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    count = counted(lines, "line") + (f", of which {SHOWN} are shown" if lines > SHOWN else "")
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{_below([count, *notes])}"


def graph_html(
    boxes: Sequence[tuple[str, str]], edges: Iterable[tuple[int, int, str]], notes: Iterable[object] = ()
) -> str:
    """Return a graph as SVG, from left to right in the direction of the data flow.

    Parameters
    ----------
    boxes : sequence of (title, text)
    edges : iterable of (int, int, str)
        Number of the source box, number of the target box, and the edge's title.
    notes
        Lines below the graph.

    Only the first 60 boxes of a large graph are drawn.
    """
    left = len(boxes) - _BOXES
    if left > 0:
        notes = [f"… and {counted(left, 'more box', 'more boxes')}", *notes]
    boxes = boxes[:_BOXES]
    edges = [edge for edge in edges if max(edge[:2]) < len(boxes)]
    column = _depths(len(boxes), edges)
    placed: dict[int, tuple[int, int]] = {}
    rows: dict[int, int] = {}
    for number in range(len(boxes)):
        place = column[number]
        placed[number] = (place * (_WIDTH + _GAP) + 4, rows.get(place, 0) * (_HEIGHT + 16) + 4)
        rows[place] = rows.get(place, 0) + 1
    lines = [_edge(placed[a], placed[b], title) for a, b, title in edges]
    shapes = [_box(placed[i], *box) for i, box in enumerate(boxes)]
    width = (max(column, default=0) + 1) * (_WIDTH + _GAP)
    height = max(rows.values(), default=1) * (_HEIGHT + 16) + 8
    style = 'font-family="sans-serif" font-size="12" fill="none" stroke="currentColor"'
    return f'<svg width="{width}" height="{height}" {style}>{"".join([*lines, *shapes])}</svg>{_below(notes)}'


def _below(notes: Iterable[object]) -> str:
    return "".join(f"<div>{escaped(note)}</div>" for note in notes)


def _text(value: Any) -> str:
    if value is None:
        return "<i>null</i>"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return escaped(text if len(text) <= _CELL else text[: _CELL - 1] + "…")


def _depths(count: int, edges: Sequence[tuple[int, int, str]]) -> list[int]:
    """Return the length of the longest path to each box. A version that leads to itself keeps its place."""
    depth = [0] * count
    for _ in range(count):
        new = [max([d, *(depth[a] + 1 for a, b, _ in edges if b == i and a != b)]) for i, d in enumerate(depth)]
        new = [min(count - 1, d) for d in new]
        if new == depth:
            break
        depth = new
    return depth


def _box(at: tuple[int, int], title: str, text: str) -> str:
    x, y = at
    shown = title if len(title) <= 28 else "…" + title[-27:]
    words = f'<text x="{x + 8}" y="{y + 18}" stroke="none" fill="currentColor"'
    return (
        f'<g><title>{escaped(title)}</title><rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>'
        f'{words} font-weight="bold">{escaped(shown)}</text>'
        f'<text x="{x + 8}" y="{y + 35}" stroke="none" fill="currentColor">{escaped(text)}</text></g>'
    )


def _edge(begin: tuple[int, int], end: tuple[int, int], title: str) -> str:
    x, y = begin[0] + _WIDTH, begin[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    half = (x + to_x) // 2
    return f'<path d="M{x} {y} C{half} {y} {half} {to_y} {to_x} {to_y}"><title>{escaped(title)}</title></path>'
