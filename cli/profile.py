"""``provspark profile`` and ``impact``: how values are distributed, and what a step did to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from provspark.cli.common import (
    cancelled_by_keys,
    functions_option,
    json_option,
    open_provenance,
    show_progress,
    store_option,
)
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.selecting import answer_options, selected, selection_options, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provspark.index_store.profiles.profile import ColumnProfile, Profile
    from provspark.replay.spread import OperationProfiles

__all__ = ["impact", "profile"]

_SHOWN = 10


@click.command()
@selection_options
@click.option("--column", "columns", multiple=True, metavar="NAME", help="A column; may be given again.")
@click.option("--operations", "every", is_flag=True, help="Before and after each operation of the step that wrote it.")
@click.option("--operation", "numbers", type=int, multiple=True, metavar="N", help="The same of one; again for more.")
@functions_option
@json_option
def profile(
    columns: tuple[str, ...], every: bool, numbers: tuple[int, ...], functions: bool, as_json: bool, **given: Any
) -> None:
    """Tell how the values of DATASET are distributed, all rows or some.

    Columns that are named are told with their histogram, most frequent values and correlations. With --operations or
    --operation, the operations of the step that wrote DATASET, or that is named instead of it, run again on Spark, and
    what each changed is told; `provspark operations STEP --parts` numbers them.

    \b
    Examples:
      provspark profile /data/people
      provspark profile /data/people --column age --where 'hours>=40'
      provspark profile /data/people --operation 3 --column age
    """
    from provspark.model.json_form import jsonable

    prov = open_provenance(given.pop("store"))
    if every or numbers:
        if every and numbers:
            raise click.UsageError("one of --operations and --operation; not both")
        step = given.pop("dataset")
        if any(given.values()):
            raise click.UsageError(
                "--operations and --operation are of all rows of a step; name it by its id or output"
            )
        how: dict[str, Any] = {"columns": columns or None, "progress": show_progress, "functions": functions}
        with cancelled_by_keys(prov):
            told = prov.operation_profiles(step, numbers or None, **how)
        if as_json:
            echo_json(told.as_dict())
        else:
            _show_operations(told, columns)
        return
    profiled = prov.profile(**selected(given), columns=columns or None)
    if as_json:
        echo_json(jsonable(profiled))
        return
    say(f"{profiled.dataset}: {count(profiled.rows)}")
    table = profiled.table()
    print_rows(console(), table.column_names, [[_short(v) for v in line.values()] for line in table.to_pylist()])
    for name, why in profiled.left_out:
        say(f"left out: {name}: {why}", fg="yellow", err=True)
    for column in profiled.columns if columns else ():
        _print_column(profiled, column)


def _show_operations(told: OperationProfiles, columns: Sequence[str]) -> None:
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
        word = "differs from what is stored" if told.verified is False else "could not be checked"
        say(f"the end of this replay {word}: {told.why}", fg="yellow", err=True)


def _print_column(profiled: Profile, column: ColumnProfile) -> None:
    out = console()
    if column.top:
        say(f"\n{column.name}: {count(column.distinct or 0, 'value')}, the most frequent")
        shown = [[s.value, s.count, f"{s.count / column.rows:.1%}"] for s in column.top[:_SHOWN]]
        print_rows(out, ["value", "rows", "share"], shown, indent=2)
    if column.histogram:
        say(f"\n{column.name}: histogram")
        most = max(b.count for b in column.histogram)
        bars = [[_short(b.low), _short(b.high), b.count, "█" * round(30 * b.count / most)] for b in column.histogram]
        print_rows(out, ["from", "to", "rows", ""], bars, indent=2)
    others = {n: profiled.correlations.of(column.name, n) for n in profiled.correlations.columns if n != column.name}
    if others and column.name in profiled.correlations.columns:
        say(f"\n{column.name}: correlations")
        ordered = sorted(others.items(), key=lambda o: -abs(o[1] or 0))
        print_rows(out, ["column", "correlation"], [[n, _short(v)] for n, v in ordered[:_SHOWN]], indent=2)


@click.command()
@click.argument("step")
@click.option("--column", metavar="NAME", help="A column, of the output or one that went (default: all).")
@click.option("--source", metavar="DATASET", help="The data set before, where the step read several.")
@click.option("--output", metavar="DATASET", help="The data set after, where the step wrote several.")
@click.option("--was", multiple=True, metavar="NEW=OLD", help="A column's name before; may be given again.")
@click.option("--shares", is_flag=True, help="Tell the share of each value instead of count, mean and so on.")
@store_option
@answer_options
def impact(
    step: str,
    column: str | None,
    source: str | None,
    output: str | None,
    was: tuple[str, ...],
    shares: bool,
    store: str | None,
    **shown: Any,
) -> None:
    """Tell what STEP did to the distribution of values: before and after, side by side.

    STEP is a step's id, or the data set that it wrote.

    \b
    Examples:
      provspark impact /data/imputed --column capital_gain
      provspark impact /data/clean --column sex --shares
    """
    named = dict(_renamed(text) for text in was)
    answer = open_provenance(store).impact(step, column, source=source, output=output, was=named)
    table = answer.shares() if shares else answer.table()
    show_table(table, **shown, before=answer.before.dataset, after=answer.after.dataset)


def _renamed(text: str) -> tuple[str, str]:
    new, equals, old = text.partition("=")
    if not equals or not new or not old:
        raise click.BadParameter(f"{text!r}: write it as NEW=OLD", param_hint="--was")
    return new, old


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
