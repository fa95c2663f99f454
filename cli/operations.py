"""Views of operations: a list of them, or rows with the operations on each path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from provspark.cli.inquiry import Inquiry
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.tables import show_table

if TYPE_CHECKING:
    from provspark.index_store.query.operation_list import OperationLine

__all__ = ["OPERATION_NAMES", "operation_rows", "show_explanations", "show_operations"]


def show_explanations(inquiry: Inquiry, *, limit: int, as_json: bool, **parts: bool) -> None:
    """Show `Explanations`: the rows, and the operations on each path. `parts` is passed to `Explanations.lines`."""
    from provspark.index_store.query.tabular import both_names

    explanations = inquiry.answer()
    if as_json:
        answer = {
            "lines": both_names(explanations.table()).to_pylist(),
            "operations": explanations.operations(**parts).to_pylist(),
        }
        echo_json({**answer, "stops": [{n: getattr(s, n) for n in s.__slots__} for s in explanations.answer.stops]})
        return
    show_table(explanations.table(), limit=limit)
    lines = explanations.lines(**parts)
    for number, ((dataset, version, occurrence, kind), _) in enumerate(explanations.paths):
        reading = f", occurrence {occurrence}" if occurrence > 0 else ""
        console().print(Text(f"path {number}: {dataset}, version {version[:8]}{reading}, {kind}", style="bold"))
        _print_operations([line for i, line in lines if i == number])


def show_operations(inquiry: Inquiry, *, as_json: bool) -> None:
    """Show an `OperationList`."""
    answer = inquiry.answer()
    if as_json:
        echo_json(list(answer))
    elif answer.lines:
        _print_operations(answer.lines)
    else:
        say("No operation found. Steps that stored no operations are not listed.")


def operation_rows(lines: Sequence[OperationLine]) -> list[list[Any]]:
    """Return operations as rows of a table with the columns `OPERATION_NAMES`."""
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
                console().print(Text(f"  {which} {numbers}: only for some rows, depending on their values: {line.why}"))
