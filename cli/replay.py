"""``provspark history``, ``whynot``, ``replay`` and ``counts``: what comes from running stored operations again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

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
from provspark.cli.selecting import answer_options, echo_pages, selected, selection_options, show_table, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from provspark.model.operations import Operation
    from provspark.replay.history import Passage
    from provspark.replay.records import Replayed, ReplayEnding, Stage

F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["beside", "counts", "history", "replay", "whynot"]


def _ended_options(command: F) -> F:
    """Add ``--json-lines``, ``--csv`` and ``--parquet``: where each row ended, page by page."""
    options = [
        click.option("--json-lines", is_flag=True, help="Write a line of JSON for each row that ended."),
        click.option("--csv", "csv_file", metavar="FILE", help="Write where each row ended as CSV."),
        click.option("--parquet", "parquet_file", metavar="FILE", help="Write where each row ended as Parquet."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _ended(given: dict[str, Any]) -> Callable[[Iterator[pa.Table]], None] | None:
    """Return what writes pages of rows that ended, as the options of `_ended_options` say; None without any."""
    lines, csv_file, parquet_file = (given.pop(name) for name in ("json_lines", "csv_file", "parquet_file"))
    files = [f for f in (csv_file, parquet_file) if f]
    if len(files) + bool(lines) > 1:
        raise click.UsageError("one of --json-lines, --csv and --parquet; not several")

    def write(pages: Iterator[pa.Table]) -> None:
        from provspark.index_store.export.tables import write_pages

        if files:
            say(f"{count(write_pages(pages, files[0], csv=bool(csv_file)), 'line')} written to {files[0]}.")
        else:
            echo_pages(pages)

    return write if lines or files else None


@click.command()
@selection_options
@click.option("--step", metavar="STEP", help="The step to replay, where more than one made or read the rows.")
@click.option("--all-sources", is_flag=True, help="Tell of each line all rows of inputs that it came from.")
@click.option("--limit", type=click.IntRange(min=0), default=5, show_default=True, help="Lines to show.")
@functions_option
@json_option
def replay(step: str | None, all_sources: bool, functions: bool, limit: int, as_json: bool, **given: Any) -> None:
    """Show rows of DATASET after each operation of the step that made them, with the cells that it changed.

    \b
    Example:
      provspark replay /data/report --row 17
    """
    prov = open_provenance(given.pop("store"))
    told = prov.replay(
        **selected(given), step=step, all_sources=all_sources, progress=show_progress, functions=functions
    )
    if as_json:
        echo_json(told.as_dict())
    else:
        _show(told, limit)


@click.command()
@selection_options
@click.option("--direction", type=click.Choice(["both", "backward", "forward"]), default="both", show_default=True)
@click.option("--column", "column", multiple=True, metavar="NAME", help="These cells alone; without rows, this column.")
@functions_option
@_ended_options
@json_option
def history(direction: Any, column: tuple[str, ...], functions: bool, as_json: bool, **given: Any) -> None:
    """Tell what rows of DATASET went through, before and after, across steps, and where they ended.

    \b
    Examples:
      provspark history /data/people.csv --row 224 --direction forward
      provspark history /data/people.csv --row 224 --column age
      provspark history /data/people.csv --column fnlwgt
    """
    prov = open_provenance(given.pop("store"))
    ended = _ended(given)
    how: dict[str, Any] = {"direction": direction, "progress": show_progress, "functions": functions}
    with cancelled_by_keys(prov):
        if ended:
            ended(page.ended() for page in prov.history_pages(**selected(given), **how))
            return
        told = prov.history(**selected(given), columns=list(column) or None, **how)
    if as_json:
        echo_json(told.as_dict())
        return
    for passage in told.passages:
        at = "; ".join(f"{count(rows.count)} of {name}" for name, rows in passage.rows)
        say(f"{passage.step} → {passage.dataset}: {at}", bold=True)
        if passage.why:
            say(f"  not replayed: {passage.why}", fg="yellow")
        _show_passage(passage, told.columns)
        for drop in told.drops if passage.direction == "forward" else ():
            if (drop.step, drop.write) == (passage.step, passage.write):
                site = f" ({drop.site})" if drop.site else ""
                into = f"; by then it had gone into {', '.join(drop.into)}" if drop.into else ""
                say(f"  {drop.known_as} ended at {drop.operation} {drop.text}{site}{into}", fg="red")


def _show_passage(passage: Passage, columns: Sequence[str]) -> None:
    from provspark.replay.columns import distinct

    told = passage.replayed
    if told is None:
        for operation, names in passage.trail:
            say(f"  {_named(operation)}: {', '.join(dict.fromkeys(c.name for c in names))}")
        return
    trail = {o.index: {c.id for c in names} for o, names in passage.trail}
    for stage in told.stages:
        if not columns:
            say(f"  {_named(stage.operation)}: {count(len(stage.lines))}{_marked(stage)}")
            continue
        mine = trail.get(stage.operation.index, ())
        places = [i for i, c in enumerate(distinct(stage.operation.columns)) if c.id in mine]
        values = [f"{stage.columns[i]} = {_text(line.values[i])}" for line in stage.lines[:5] for i in places]
        if values:
            more = f" and {count(len(stage.lines) - 5, 'more line')}" if len(stage.lines) > 5 else ""
            say(f"  {_named(stage.operation)}: {', '.join(values)}{more}")
    for ending in passage.endings:
        _show_ending(ending)
    _show_doubts(told)


@click.command()
@selection_options
@click.option(
    "--after", "operation", type=int, required=True, metavar="N", help="The operation that the rows stand after."
)
@click.option("--to", "to", type=int, required=True, metavar="N", help="The operation whose rows are wanted.")
@click.option("--via", type=int, metavar="N", help="On the way to this operation's rows (default: the last one's).")
@click.option("--shared", is_flag=True, help="Rows that share a row of --via with these, not those used with them.")
@click.option("--step", metavar="STEP", help="The step, where more than one made or read the rows.")
@functions_option
@answer_options
def beside(
    operation: int, to: int, via: int | None, shared: bool, step: str | None, functions: bool, **given: Any
) -> None:
    """Find the rows between operations that were used with those that led to rows of DATASET, or came of them.

    `provspark operations STEP --parts` numbers the operations.

    \b
    Examples:
      provspark beside /data/joined --row 17 --after 4 --to 2
      provspark beside /data/joined --row 17 --after 4 --to 4 --via 2 --shared
    """
    prov = open_provenance(given.pop("store"))
    how_shown = shown(given)
    how: dict[str, Any] = {"step": step, "progress": show_progress, "functions": functions}
    asked = selected(given)
    if shared:
        if via is None:
            raise click.UsageError("--shared needs --via: the operation whose rows both came from")
        told = prov.co_dependency_lines(**asked, operation=operation, to=to, via=via, **how)
    else:
        told = prov.co_contributory_lines(**asked, operation=operation, to=to, via=via, **how)
    if how_shown["as_json"]:
        echo_json(told.as_dict())
        return
    show_table(told.table(), **how_shown)
    if told.verified is not True:
        say(f"the replay could not be checked, or differs: {told.why}", fg="yellow", err=True)


@click.command()
@click.argument("dataset")
@click.option("--where", multiple=True, required=True, metavar="CONDITION", help="As 'id=42'; may be given again.")
@click.option("--version", metavar="ID", help="A version of DATASET (default: the latest).")
@click.option("--run", metavar="RUN", help="The version of a run, or of the 'latest'.")
@store_option
@functions_option
@_ended_options
@json_option
def whynot(
    dataset: str, where: tuple[str, ...], store: str | None, functions: bool, as_json: bool, **which: Any
) -> None:
    """Tell why DATASET has no row for which conditions hold: which input rows do, and what dropped them.

    \b
    Example:
      provspark whynot /data/report --where customer=42
    """
    from provspark.index_store.values.selection import parse_condition

    prov = open_provenance(store)
    ended = _ended(which)
    conditions = [parse_condition(text) for text in where]
    how: dict[str, Any] = {"progress": show_progress, "functions": functions, **which}
    with cancelled_by_keys(prov):
        if ended:
            ended(page.ended() for page in prov.why_not_pages(dataset, conditions, **how))
            return
        told = prov.why_not(dataset, conditions, **how)
    if as_json:
        echo_json(told.as_dict())
        return
    if told.found:
        say(f"{dataset} has {count(told.found.count)} for which this holds: {told.found.rows()[:20].tolist()}")
    for condition in told.untraced:
        say(f"left out: {condition.column} is handed on from no column of an input", fg="yellow", err=True)
    for missed in told.missed:
        if missed.why:
            say(f"{missed.step} → {missed.dataset}: {missed.why}", fg="red", err=True)
            continue
        say(f"{missed.step} read {missed.dataset}: {count(missed.rows.count)} for which this holds", bold=True)
        for ending in missed.endings:
            _show_ending(ending)
        if missed.replayed:
            if missed.replayed.results:
                say(f"  {count(len(missed.replayed.results))} of the output came from them")
            _show_doubts(missed.replayed)


@click.command()
@click.argument("step")
@store_option
@functions_option
@json_option
def counts(step: str, store: str | None, functions: bool, as_json: bool) -> None:
    """Count the rows that go into and come out of each operation of STEP, by running all of it again."""
    prov = open_provenance(store)
    with cancelled_by_keys(prov):
        table = prov.counts(step, progress=show_progress, functions=functions).table()
    if as_json:
        echo_json(table.to_pylist())
        return
    names = ["write", "operation", "text", "rows_in", "rows_out", "why"]
    print_rows(console(), names, [[line[n] for n in names] for line in table.to_pylist()], cell=80)


def _show(told: Replayed, limit: int) -> None:
    out = console()
    for stage in told.stages:
        say(f"{_named(stage.operation)}{_marked(stage)}", bold=True)
        rows = []
        for line in stage.lines[:limit]:
            new = {*line.changed, *line.added}
            cells = zip(stage.columns, line.values, strict=True)
            rows.append([("* " if name in new else "") + _text(value) for name, value in cells])
        print_rows(out, stage.columns, rows, indent=2)
        if len(stage.lines) > limit:
            say(f"  … {count(len(stage.lines) - limit, 'more line')}")
    for ending in told.endings:
        _show_ending(ending)
    _show_doubts(told)


def _named(operation: Operation) -> str:
    site = f" ({operation.site})" if operation.site else ""
    return f"{operation.index} {operation.text}{site}"


def _marked(stage: Stage) -> str:
    changed = sorted({n for line in stage.lines for n in line.changed})
    return f", changed {', '.join(changed)}" if changed else ""


def _text(value: Any) -> str:
    return "null" if value is None else str(value)


def _show_ending(ending: ReplayEnding) -> None:
    rows = ", ".join(f"row {s.row} of {s.dataset}" for s in ending.sources[:5])
    rows += f" and {len(ending.sources) - 5} more" if len(ending.sources) > 5 else ""
    kept = ", ".join(f"row {s.row} of {s.dataset}" for s in ending.kept_sources[:5])
    what = "ended" if ending.whole else "lost a part"
    say(f"  {rows} {what} at {ending.operation.index} {ending}" + (f"; kept: {kept}" if kept else ""), fg="red")


def _show_doubts(told: Replayed) -> None:
    for dataset, rows in told.scanned:
        say(f"  read whole: {dataset}, {count(rows)}", dim=True, err=True)
    for operation, why in (*told.stopped, *told.doubts):
        say(f"  {operation.index} {operation.text}: {why}", fg="yellow", err=True)
    if told.verified is not True:
        word = "differs from what is stored" if told.verified is False else "could not be checked"
        say(f"  the end of this replay {word}: {told.why}", fg="yellow", err=True)
