"""Views of answers that replay stored operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provspark.cli.inquiry import Inquiry
from provspark.cli.marks import say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.cli.tables import ended_writer, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provspark.model.operations import Operation
    from provspark.replay.history import Passage
    from provspark.replay.records import Replayed, ReplayEnding, Stage

__all__ = ["show_counts", "show_history", "show_replayed", "show_shared_rows", "show_why_not"]


def show_history(inquiry: Inquiry, *, as_json: bool, **files: Any) -> None:
    """Show a `History`; in files and as JSON lines, only where rows ended."""
    if write := ended_writer(**files):
        write(page.ended() for page in inquiry.pages())
        return
    told = inquiry.answer()
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
                into = f"; before that it had gone into {', '.join(drop.into)}" if drop.into else ""
                say(f"  {drop.known_as} ended at {drop.operation} {drop.text}{site}{into}", fg="red")


def _show_passage(passage: Passage, columns: Sequence[str]) -> None:
    from provspark.replay.columns import distinct

    told = passage.replayed
    if told is None:
        for operation, names in passage.told_trail():
            say(f"  {_named(operation)}: {', '.join(names)}")
        return
    trail = {o.index: {c.id for c in on_way} for o, on_way in passage.trail}
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


def show_shared_rows(inquiry: Inquiry, *, as_json: bool, **shown: Any) -> None:
    """Show `SharedRows`."""
    told = inquiry.answer()
    if as_json:
        echo_json(told.as_dict())
        return
    show_table(told.table(), **shown)
    if told.verified is not True:
        say(f"the replay could not be checked, or differs from the stored output: {told.why}", fg="yellow", err=True)


def show_why_not(inquiry: Inquiry, *, as_json: bool, **files: Any) -> None:
    """Show a `WhyNot`; in files and as JSON lines, only where input rows ended."""
    if write := ended_writer(**files):
        write(page.ended() for page in inquiry.pages())
        return
    told = inquiry.answer()
    if as_json:
        echo_json(told.as_dict())
        return
    if told.found:
        rows = told.found.rows()[:20].tolist()
        say(f"{inquiry.argument('dataset')} has {count(told.found.count)} satisfying the conditions: {rows}")
    for condition in told.untraced:
        say(f"left out: {condition.column} is not copied from a column of an input", fg="yellow", err=True)
    for missed in told.missed:
        if missed.why:
            say(f"{missed.step} → {missed.dataset}: {missed.why}", fg="red", err=True)
            continue
        say(f"{missed.step} read {missed.dataset}: {count(missed.rows.count)} satisfying the conditions", bold=True)
        for ending in missed.endings:
            _show_ending(ending)
        if missed.replayed:
            if missed.replayed.results:
                say(f"  {count(len(missed.replayed.results))} of the output came from these rows")
            _show_doubts(missed.replayed)


def show_counts(inquiry: Inquiry, *, as_json: bool) -> None:
    """Show the numbers of rows in and out of each operation."""
    table = inquiry.answer().table()
    if as_json:
        echo_json(table.to_pylist())
        return
    names = ["write", "operation", "text", "rows_in", "rows_out", "why"]
    print_rows(console(), names, [[line[n] for n in names] for line in table.to_pylist()], cell=80)


def show_replayed(inquiry: Inquiry, *, limit: int, as_json: bool) -> None:
    """Show a `Replayed` answer: the rows after each operation."""
    told = inquiry.answer()
    if as_json:
        echo_json(told.as_dict())
        return
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
        say(f"  read in full: {dataset}, {count(rows)}", dim=True, err=True)
    for operation, why in (*told.stopped, *told.doubts):
        say(f"  {operation.index} {operation.text}: {why}", fg="yellow", err=True)
    if told.verified is not True:
        word = "differs from the stored output" if told.verified is False else "could not be checked"
        say(f"  the result of this replay {word}: {told.why}", fg="yellow", err=True)
