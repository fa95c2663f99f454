"""The options by which every question selects its rows, and by which its table is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from provspark.cli.common import json_option, store_option
from provspark.cli.marks import escape_json, say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.index_store.values.json_cells import plain
from provspark.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from provspark.api import Stop

__all__ = [
    "ahead_options",
    "answer_options",
    "driver_options",
    "echo_pages",
    "print_stops",
    "row_options",
    "selected",
    "selection_options",
    "show_pages",
    "show_table",
    "shown",
    "told",
    "version_options",
    "way_options",
]

F = TypeVar("F", bound=Callable[..., Any])

_BATCH = 10_000


def row_options(command: F) -> F:
    """Add `selection_options`, and ``--context`` for a question that can follow such edges."""
    context = click.option("--context", is_flag=True, help="Follow rows that values were computed from, too.")
    return selection_options(context(command))


def selection_options(command: F) -> F:
    """Add DATASET and the options that select its rows; `selected` reads them."""
    options = [
        click.argument("dataset"),
        click.option("--row", "rows", type=int, multiple=True, metavar="N", help="A row id; may be given again."),
        click.option(
            "--where",
            multiple=True,
            metavar="CONDITION",
            help="Rows by value, as 'hours>=40'; all conditions must hold. Also != < <= >, 'x in (a, b)', "
            "'x like a%', 'x startswith a', 'x is null'; x may be struct.field.",
        ),
    ]
    return _with(options, version_options(command))


def driver_options(command: F) -> F:
    """Add ``--strict`` and ``--trust``, which `selected` reads."""
    options = [
        click.option("--strict", is_flag=True, help="Follow reads of one number on a driver (count, avg …), too."),
        click.option(
            "--trust",
            multiple=True,
            metavar="PLACE",
            help="Leave out possible edges, ends and stops of a task, an operator, a script's line (clean.py:12) or a "
            "kind of stop; may be given again.",
        ),
    ]
    return _with(options, command)


def version_options(command: F) -> F:
    """Add the options that choose a version of DATASET and the steps that count, and ``--store``."""
    options = [
        click.option("--version", metavar="ID", help="A version of DATASET (default: the current one)."),
        click.option("--run", metavar="RUN", help="The version of a run, or of the 'latest'; ahead, its steps only."),
        click.option("--as-of", metavar="TIME", help="Leave out steps that ended later."),
        store_option,
    ]
    return _with(options, command)


def ahead_options(limits: str = "") -> Callable[[F], F]:
    """Add ``--all-versions``, which gives ``versions``; `limits` says where it does not apply."""
    what = "Include result rows that are no longer in the current version of their dataset, marked as gone."
    return click.option(
        "--all-versions",
        "versions",
        is_flag=True,
        flag_value="all",
        default="current",
        help=f"{what} {limits}".strip(),
    )


def way_options(command: F) -> F:
    """Add ``--backward/--forward``, which gives ``backward``, and ``--to``."""
    options = [
        click.option("--backward/--forward", default=True, help="What it came from (the default), or went into."),
        click.option("--to", metavar="DATASET", help="Ask for this data set, wherever it is on the way."),
    ]
    return _with(options, command)


def answer_options(command: F) -> F:
    """Add ``--json``, ``--json-lines``, ``--csv``, ``--parquet`` and ``--limit``, which `show_table` takes."""
    options = [
        click.option("--csv", "csv_file", metavar="FILE", help="Write the whole answer as CSV."),
        click.option("--parquet", "parquet_file", metavar="FILE", help="Write the whole answer as Parquet."),
        click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Lines to show."),
        click.option("--json-lines", is_flag=True, help="Write each line of the answer as JSON, as it comes."),
        json_option,
    ]
    return _with(options, command)


def shown(given: dict[str, Any]) -> dict[str, Any]:
    """Take what `answer_options` added out of a command's parameters, as `show_table` takes it."""
    return {name: given.pop(name) for name in ("csv_file", "parquet_file", "limit", "as_json", "json_lines")}


def show_pages(
    pages: Callable[[], Iterable[pa.Table]],
    table: Callable[[], pa.Table],
    *,
    csv_file: str | None = None,
    parquet_file: str | None = None,
    as_json: bool = False,
    json_lines: bool = False,
    **rest: Any,
) -> None:
    """Write an answer page by page, as it comes, into files or as lines of JSON; else as `show_table` does.

    Parameters
    ----------
    pages, table : callable
        Each makes the whole answer, in pages of which there is at least one, or at once.
    """
    from provspark.index_store.export.tables import write_pages

    if as_json or not (csv_file or parquet_file or json_lines):
        files: dict[str, Any] = {"csv_file": csv_file, "parquet_file": parquet_file}
        show_table(table(), **files, as_json=as_json, json_lines=json_lines, **rest)
        return
    last: pa.Table | None = None

    def noted() -> Iterator[pa.Table]:
        nonlocal last
        for page in pages():
            last = page.slice(0, 0)
            yield _renamed(page)

    for path in filter(None, (csv_file, parquet_file)):
        lines = write_pages(noted(), path, csv=path is csv_file)
        say(f"{count(lines, 'line')} written to {path}.", err=json_lines)
    if json_lines:
        echo_pages(map(_renamed, pages()))
    elif last is not None:
        print_about(last)


def echo_pages(pages: Iterable[pa.Table]) -> None:
    """Write tables as lines of JSON, each when it comes; then where they are less than they could be."""
    for page in pages:
        for batch in page.to_batches(max_chunksize=_BATCH):
            for line in batch.to_pylist():
                click.echo(escape_json(json.dumps(plain(line), ensure_ascii=False, allow_nan=False)))
    print_about(page)


def _with(options: Sequence[Callable[[F], F]], command: F) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def selected(given: dict[str, Any]) -> dict[str, Any]:
    """Take what `row_options`, `selection_options` and `driver_options` added of a command's parameters.

    They come back under the API's names.
    """
    from provspark.index_store.values.selection import parse_condition

    rows, where = given.pop("rows"), given.pop("where")
    chosen: dict[str, Any] = {"rows": list(rows) if rows else None}
    if "context" in given:
        chosen["kinds"] = ("data", "context") if given.pop("context") else ("data",)
    if "trust" in given:
        chosen |= {"strict": given.pop("strict"), "trust": (*given.pop("trust"), *Settings.read().trusted)}
    if "versions" in given:
        chosen["versions"] = given.pop("versions")
    chosen["where"] = [parse_condition(text) for text in where] or None
    return chosen | {name: given.pop(name) for name in ("dataset", "version", "run", "as_of")}


def show_table(
    table: pa.Table,
    *,
    csv_file: str | None = None,
    parquet_file: str | None = None,
    limit: int,
    as_json: bool = False,
    json_lines: bool = False,
    **about: Any,
) -> None:
    """Write an answer: into files, as JSON, or its first lines for people."""
    from provspark.index_store.export.tables import write_csv, write_parquet
    from provspark.index_store.query.answer import gone_of, stops_of, versions_of
    from provspark.model.json_form import jsonable

    stops = stops_of(table)
    if csv_file or parquet_file or json_lines or as_json:
        table = _renamed(table)
    for path, write in ((csv_file, write_csv), (parquet_file, write_parquet)):
        if path:
            write(table, path)
            say(f"{count(table.num_rows, 'line')} written to {path}.", err=as_json)
    if json_lines:
        echo_pages([table])
        return
    if as_json:
        said = {"stops": jsonable(stops), "gone": jsonable(gone_of(table)), "versions": jsonable(versions_of(table))}
        echo_json({**about, "lines": table.num_rows, "answer": table.to_pylist(), **said})
        return
    if not csv_file and not parquet_file:
        for name, value in about.items():
            label = name.replace("_", " ")
            say(f"{label}: {value:,}" if isinstance(value, int) else f"{label}: {value}")
        if table.num_rows and limit:
            first = table.slice(0, limit).to_pylist()
            print_rows(console(), table.column_names, [list(line.values()) for line in first], cell=80)
        if table.num_rows > limit:
            say(f"… {count(table.num_rows - limit, 'more line')}; --limit, --csv and --parquet tell more")
        if not table.num_rows:
            say("No row, as far as was captured." if stops else "No row.")
    print_about(table)


def _renamed(table: pa.Table) -> pa.Table:
    """Return a table that has renamed columns under both names, and say once that the former ones go."""
    from provspark.index_store.query.tabular import FORMER, both_names

    for name, former in FORMER.items():
        context = click.get_current_context()
        if name in table.column_names and former not in context.meta:
            context.meta[former] = True
            say(f"The column {former} is called {name} now. {former} goes with the next release.", dim=True, err=True)
    return both_names(table)


def print_about(table: pa.Table) -> None:
    """Say which version was used, which rows are gone, and where an answer is less than it could be."""
    from provspark.index_store.query.answer import gone_of, stops_of, versions_of

    for used in versions_of(table)[:1]:
        say(f"Using {used}.", dim=True, err=True)
    for gone in gone_of(table):
        say(f"{gone}.", err=True)
    print_stops(stops_of(table))


def print_stops(stops: tuple[Stop, ...]) -> None:
    """Say where an answer is less than it could be; `open_provenance` has named the steps that can't be read."""
    for stop in stops:
        if stop.what == "unreadable":
            continue
        style, text = told(stop)
        say(text, fg=style, err=True)


def told(stop: Stop) -> tuple[str, str]:
    """A stop as a colour and a line of text."""
    from provspark.model.stops import sentence, stop_kind

    return "red" if stop_kind(stop.what).ends else "yellow", f"{stop.what}: {sentence(stop)}"
