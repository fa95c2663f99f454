"""Views of value distributions, and of how a step or an operation changed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from provspark.cli.inquiry import Inquiry
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.tables import show_table
from provspark.model.json_form import jsonable

if TYPE_CHECKING:
    from provspark.index_store.profiles.profile import ColumnProfile, Profile

__all__ = ["show_impact", "show_operation_profiles", "show_profile"]

_SHOWN = 10


def show_profile(inquiry: Inquiry, *, as_json: bool) -> None:
    """Show a `Profile`; for requested columns also values, histogram and correlations."""
    profiled = inquiry.answer()
    if as_json:
        echo_json(jsonable(profiled))
        return
    say(f"{profiled.dataset}: {count(profiled.rows)}")
    table = profiled.table()
    print_rows(console(), table.column_names, [[_short(v) for v in line.values()] for line in table.to_pylist()])
    for name, why in profiled.left_out:
        say(f"left out: {name}: {why}", fg="yellow", err=True)
    for column in profiled.columns if inquiry.argument("columns") else ():
        _print_column(profiled, column)


def show_operation_profiles(inquiry: Inquiry, *, as_json: bool) -> None:
    """Show `OperationProfiles`: the measures before and after each operation."""
    told = inquiry.answer()
    if as_json:
        echo_json(told.as_dict())
        return
    columns = inquiry.argument("columns") or ()
    out = console()
    lines: dict[tuple[int, int | None], list[dict[str, Any]]] = {}
    for line in told.table().to_pylist():
        lines.setdefault((line["operation"], line["child"]), []).append(line)
    for (number, child), measures in lines.items():
        operation = told.operations[number]
        site = f" ({operation.site})" if operation.site else ""
        beside = f", from {child}" if len(operation.children) > 1 else ""
        say(f"{number} {operation.text}{site}{beside}", bold=True)
        if measures[0]["why"]:
            say(f"  {measures[0]['why']}", fg="yellow")
            continue
        names = ["column", "measure", "before", "after", "change"]
        print_rows(out, names, [[_short(line[n]) for n in names] for line in measures], indent=2)
        after = told.after(number)
        mine = {c.name.lower() for c in after.columns} & {c.lower() for c in columns}
        for column in after.columns:
            if column.name.lower() in mine:
                _print_column(after, column)
    if told.verified is not True:
        word = "differs from the stored output" if told.verified is False else "could not be checked"
        say(f"the result of this replay {word}: {told.why}", fg="yellow", err=True)


def _print_column(profiled: Profile, column: ColumnProfile) -> None:
    out = console()
    if column.top:
        click.echo()
        say(f"{column.name}: {count(column.distinct or 0, 'value')}, the most frequent")
        shown = [[s.value, s.count, f"{s.count / column.rows:.1%}"] for s in column.top[:_SHOWN]]
        print_rows(out, ["value", "rows", "share"], shown, indent=2)
    if column.histogram:
        click.echo()
        say(f"{column.name}: histogram")
        most = max(b.count for b in column.histogram)
        bars = [[_short(b.low), _short(b.high), b.count, "█" * round(30 * b.count / most)] for b in column.histogram]
        print_rows(out, ["from", "to", "rows", ""], bars, indent=2)
    others = {n: profiled.correlations.of(column.name, n) for n in profiled.correlations.columns if n != column.name}
    if others and column.name in profiled.correlations.columns:
        click.echo()
        say(f"{column.name}: correlations")
        ordered = sorted(others.items(), key=lambda o: -abs(o[1] or 0))
        print_rows(out, ["column", "correlation"], [[n, _short(v)] for n, v in ordered[:_SHOWN]], indent=2)


def show_impact(inquiry: Inquiry, *, shares: bool, **shown: Any) -> None:
    """Show an `Impact` measure by measure, or with `shares` value by value."""
    answer = inquiry.answer()
    table = answer.shares() if shares else answer.table()
    show_table(table, **shown, before=answer.before.dataset, after=answer.after.dataset)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
