"""``provspark why``, ``how``, ``columns``, ``operations`` and ``dropped``: what was done to rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from provspark.cli.common import functions_option, json_option, open_provenance, show_progress
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.selecting import (
    ahead_options,
    answer_options,
    row_options,
    selected,
    show_pages,
    show_table,
    shown,
    version_options,
    way_options,
)

if TYPE_CHECKING:
    from provspark.api import Explanations
    from provspark.index_store.query.answer import Answer
    from provspark.index_store.query.column_answer import Cells
    from provspark.index_store.query.operation_list import OperationLine

__all__ = ["OPERATION_NAMES", "columns", "dropped", "how", "operation_rows", "operations", "why"]

_column_option = click.option(
    "--column", "column", multiple=True, metavar="NAME", help="A column of DATASET; may be given again."
)


def _direction(backward: bool) -> Any:
    return "backward" if backward else "forward"


@click.command()
@row_options
@_column_option
@click.option("--existence", is_flag=True, help="Also the cells that decided that the rows are there.")
@click.option("--replay", is_flag=True, help="Of cells: let a replay say what CASE, coalesce, pivot … chose by row.")
@functions_option
@ahead_options("Forward only; not with --column or --existence.")
@way_options
@answer_options
def why(column: tuple[str, ...], existence: bool, backward: bool, to: str | None, **given: Any) -> None:
    """List the rows that rows of DATASET came from or went into; with --column the cells of their cells.

    \b
    Examples:
      provspark why /data/report --row 17
      provspark why /data/report --row 17 --column total --context
      provspark why /data/people.csv --row 3 --column age --forward
    """
    prov = open_provenance(given.pop("store"))
    settled = {name: given.pop(name) for name in ("replay", "functions")}
    how_shown, asked = shown(given), selected(given)
    way: dict[str, Any] = {"direction": _direction(backward), "to": to}
    cells: dict[str, Any] = {"columns": list(column) or None, "existence": existence}
    if any(settled.values()):
        if not column and not existence:
            raise click.UsageError("--replay settles cells; name a --column, or ask with --existence")
        show_table(prov.cells(**asked, **cells, progress=show_progress, **way, **settled).table(), **how_shown)
        return
    told: Answer | Cells = (
        prov.cells(**asked, **cells, **way)
        if column or existence
        else (prov.backward if backward else prov.forward)(**asked, to=to)
    )
    show_pages(told.pages, told.table, **how_shown)


@click.command()
@row_options
@way_options
@click.option("--parts", is_flag=True, help="Each operation alone, not those of a script line as one.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Lines to show.")
@json_option
def how(backward: bool, to: str | None, parts: bool, limit: int, as_json: bool, **given: Any) -> None:
    """List the rows that rows of DATASET came from or went into, and the operations on the way to each.

    \b
    Example:
      provspark how /data/report --row 17
    """
    prov = open_provenance(given.pop("store"))
    explanations = prov.how(**selected(given), direction=_direction(backward), to=to)
    if as_json:
        from provspark.index_store.query.tabular import both_names

        answer = {
            "lines": both_names(explanations.table()).to_pylist(),
            "operations": explanations.operations(parts=parts).to_pylist(),
        }
        echo_json({**answer, "stops": [{n: getattr(s, n) for n in s.__slots__} for s in explanations.answer.stops]})
    else:
        _print_how(explanations, parts, limit)


def _print_how(explanations: Explanations, parts: bool, limit: int) -> None:
    show_table(explanations.table(), limit=limit)
    lines = explanations.lines(parts=parts)
    for number, ((dataset, version, occurrence, kind), _) in enumerate(explanations.paths):
        reading = f", reading {occurrence}" if occurrence > 0 else ""
        console().print(Text(f"path {number}: {dataset}, version {version[:8]}{reading}, {kind}", style="bold"))
        _print_operations([line for i, line in lines if i == number])


@click.command()
@click.argument("dataset")
@_column_option
@click.option("--existence/--no-existence", default=True, help="What decides which rows there are, or not.")
@click.option("--data", is_flag=True, help="Data edges only, no context.")
@version_options
@way_options
@answer_options
def columns(column: tuple[str, ...], existence: bool, data: bool, backward: bool, to: str | None, **given: Any) -> None:
    """List the columns that columns of DATASET came from or went into, and by what.

    \b
    Examples:
      provspark columns /data/report --column total
      provspark columns /data/people.csv --column age --forward
    """
    prov = open_provenance(given.pop("store"))
    how_shown = shown(given)
    kinds = ("data",) if data else ("data", "context")
    way = {"direction": _direction(backward), "to": to, "existence": existence, "kinds": kinds}
    table = prov.columns(given.pop("dataset"), list(column) or None, **way, **given).table()
    first = ["column", "related_column", "dependence", "kind", "exact", "dataset"]
    show_table(table.select(first + [n for n in table.column_names if n not in first]), **how_shown)


@click.command()
@row_options
@_column_option
@way_options
@click.option("--parts", is_flag=True, help="Each operation alone, not those of a script line as one.")
@json_option
def operations(
    column: tuple[str, ...], backward: bool, to: str | None, parts: bool, as_json: bool, **given: Any
) -> None:
    """List the operations of a step, or all behind a data set, or on the ways of some of its rows and columns.

    DATASET may be a step's id, or the beginning of one.

    \b
    Examples:
      provspark operations /data/report
      provspark operations clean-1f0c --parts
      provspark operations /data/report --row 17 --column total
      provspark operations /data/people.csv --forward --column age
    """
    prov = open_provenance(given.pop("store"))
    asked = selected(given)
    chosen = {name: value for name, value in asked.items() if value not in (None, ("data",), "")}
    what = chosen.pop("dataset")
    way = {"direction": _direction(backward), "to": to, "parts": parts}
    answer = prov.operations(what, chosen.pop("rows", None), list(column) or None, **way, **chosen)
    if as_json:
        echo_json(list(answer))
    elif answer.lines:
        _print_operations(answer.lines)
    else:
        say("No operation, as far as they were kept.")


@click.command()
@click.argument("dataset")
@_column_option
@version_options
@answer_options
def dropped(column: tuple[str, ...], **given: Any) -> None:
    """Tell which operations dropped columns of DATASET, and what these had gone into by then.

    \b
    Example:
      provspark dropped /data/people.csv --column fnlwgt
    """
    prov = open_provenance(given.pop("store"))
    how_shown = shown(given)
    show_table(prov.dropped(given.pop("dataset"), list(column) or None, **given).table(), **how_shown)


def operation_rows(lines: Sequence[OperationLine]) -> list[list[Any]]:
    """Operations as rows of a table, for the columns `OPERATION_NAMES`."""
    told = []
    for line in lines:
        first, last = line.operations[0], line.operations[-1]
        number = str(first) if first == last else f"{first}–{last}"
        text = f"{line.name}: {line.text}" if line.name else line.text
        changed = [f"+{n}" for n in line.makes] + [f"-{n}" for n in line.drops]
        rows = "" if line.rows_out is None else f"{line.rows_out:,}"
        category = ", ".join(line.category) + (", contextual" if line.contextual else "")
        told.append([number, line.site.rsplit("/", 1)[-1], rows, category, text, " ".join(changed)])
    return told


OPERATION_NAMES = ["operation", "line", "rows", "category", "what", "columns"]


def _print_operations(lines: Sequence[OperationLine]) -> None:
    steps = dict.fromkeys((line.step, line.write, line.dataset) for line in lines)
    for step, write, dataset in steps:
        own = [x for x in lines if (x.step, x.write) == (step, write)]
        console().print(Text(f"{step}, write {write} to {dataset}: {count(len(own), 'operation')}", style="bold"))
        print_rows(console(), OPERATION_NAMES, operation_rows(own), indent=2, cell=60)
        for line in own:
            if not line.exact:
                which = "operation" if len(line.operations) == 1 else "operations"
                numbers = ", ".join(map(str, line.operations))
                console().print(Text(f"  {which} {numbers}: only for some rows, as their values choose: {line.why}"))
