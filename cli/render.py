"""Tables for terminals, and JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import click
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from provspark.cli.marks import escape_json, visible
from provspark.index_store.values.json_cells import plain
from provspark.model.wording import counted

__all__ = ["console", "count", "echo_json", "plain", "print_rows", "rows_table"]

_WIDTH_OF_PIPES = 160
_CELL = 32
_GAP = 3
_BREAKS = {ord(c): visible(c) for c in "\n\r\t"}
_COUNT = re.compile(r"\d{1,3}(,\d{3})+|\d{1,3}")


class _Console(Console):
    """A console that escapes invisible and control characters."""

    def print(self, *objects: Any, **options: Any) -> None:
        """See `Console.print`. Line breaks within a `Text` come from the data and are escaped."""
        super().print(*(_one_line(o) if isinstance(o, Text) else o for o in objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See `Console.render`."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text, lines=True), style, control)


def _one_line(text: Text) -> Text:
    """Replace each line break by one visible character, so that the offsets of styles stay valid."""
    marked = text.copy()
    marked.plain = text.plain.translate(_BREAKS)
    return marked


def console() -> Console:
    """Return a console on standard output. Without a terminal its width is fixed, unless ``COLUMNS`` is set."""
    out = _Console(highlight=False, soft_wrap=True)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = _WIDTH_OF_PIPES
    return out


def count(number: int, noun: str = "row") -> str:
    """Return a number with its noun: ``1 row``, ``32,561 rows``, ``no row``."""
    return counted(number, noun) if number else f"no {noun}"


def echo_json(value: Any) -> None:
    """Write a value as JSON on standard output."""
    click.echo(escape_json(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)))


def print_rows(
    out: Console, names: Sequence[str], rows: Sequence[Sequence[Any]], indent: int = 0, cell: int = _CELL
) -> None:
    """Print a table. Columns that do not fit are left out and named below it."""
    table, left = rows_table(names, rows, out.width - indent, cell)
    out.print(_indented(table, indent))
    if left:
        text = f"… {count(len(left), 'more column')}: {', '.join(left)}; see --json"
        out.print(Text(" " * indent + text, style="dim"))


def rows_table(names: Sequence[str], rows: Sequence[Sequence[Any]], width: int, cell: int) -> tuple[Table, list[str]]:
    """Return a table of the columns that fit into `width`, and the names of the others."""
    names = [visible(n) for n in names]
    texts = [[_cell(v) for v in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    used, shown = 0, 0
    for at, name in enumerate(names):
        widest = max([len(name), *(len(row[at]) for row in texts)])
        if at and used + min(widest, cell) > width:
            break
        used += min(widest, cell) + _GAP
        shown += 1
        right = bool(rows) and all(_is_number(row[at]) for row in rows)
        table.add_column(
            Text(name),
            justify="right" if right else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=None if at == 0 else cell,
        )
    for row, values in zip(texts, rows, strict=True):
        cells = (Text(t, style="dim" if v is None else "") for t, v in zip(row, values, strict=True))
        table.add_row(*list(cells)[:shown])
    return table, list(names[shown:])


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float, Decimal)) or bool(_COUNT.fullmatch(str(value)))


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    value = plain(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return visible(text)


def _indented(table: Table, indent: int) -> Any:
    from rich.padding import Padding

    return Padding(table, (0, 0, 0, indent), expand=False)
