"""Output of tables: as text, as JSON, and to files; long tables page by page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from provspark.cli.marks import escape_json, say
from provspark.cli.render import console, count, echo_json, print_rows
from provspark.index_store.values.json_cells import plain

if TYPE_CHECKING:
    import pyarrow as pa

    from provspark.api import Stop
    from provspark.index_store.export.tables import Target

__all__ = [
    "ENDED_OPTIONS",
    "FILE",
    "JSON_OPTION",
    "STDOUT",
    "TABLE_OPTIONS",
    "check_stdout",
    "ended_writer",
    "limit_option",
    "print_stops",
    "say_written",
    "show_pages",
    "show_table",
    "target",
    "told",
]

_BATCH = 10_000


def limit_option(default: int = 20, what: str = "Rows to show.") -> click.Option:
    """Return ``--limit``."""
    return click.Option(
        ["--limit"], type=click.IntRange(min=0), metavar="N", default=default, show_default=True, help=what
    )


FILE = "FILE"
"""Metavar of options that name an output file."""
STDOUT = "-"
JSON_OPTION = click.Option(["--json", "as_json"], is_flag=True, help="Write JSON instead of text.")
TABLE_OPTIONS = (
    click.Option(["--csv", "csv_file"], metavar=FILE, help="Write the whole answer as CSV; - is standard output."),
    click.Option(
        ["--parquet", "parquet_file"], metavar=FILE, help="Write the whole answer as Parquet; - is standard output."
    ),
    limit_option(),
    click.Option(
        ["--json-lines"],
        is_flag=True,
        help="Write each row of the answer as one line of JSON, as soon as it is computed.",
    ),
    JSON_OPTION,
)
"""Options of `show_table` and `show_pages`."""
ENDED_OPTIONS = (
    click.Option(["--json-lines"], is_flag=True, help="Write one line of JSON for each dropped row."),
    click.Option(
        ["--csv", "csv_file"],
        metavar=FILE,
        help="Write each dropped row, with the operation that dropped it, as CSV; - is standard output.",
    ),
    click.Option(
        ["--parquet", "parquet_file"],
        metavar=FILE,
        help="Write each dropped row, with the operation that dropped it, as Parquet; - is standard output.",
    ),
    JSON_OPTION,
)
"""Options of `ended_writer`, and ``--json``."""


def ended_writer(
    *, json_lines: bool, csv_file: str | None, parquet_file: str | None
) -> Callable[[Iterator[pa.Table]], None] | None:
    """Return a function that writes pages of dropped rows as the options require; None without such an option."""
    files = [f for f in (csv_file, parquet_file) if f]
    if len(files) + bool(json_lines) > 1:
        raise click.UsageError("--json-lines, --csv and --parquet can't be combined. Pass only one of them.")

    def write(pages: Iterator[pa.Table]) -> None:
        from provspark.index_store.export.tables import write_pages

        if files:
            say_written(write_pages(pages, target(files[0]), csv=bool(csv_file)), files[0])
        else:
            _echo_pages(pages)

    return write if json_lines or files else None


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
    """Write an answer page by page to files or as lines of JSON. Without these options, call `show_table`.

    Parameters
    ----------
    pages, table : callable
        Return the whole answer, as one or more pages or as one table.
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
        lines = write_pages(noted(), target(path), csv=path is csv_file)
        say_written(lines, path, err=json_lines or STDOUT in (csv_file, parquet_file))
    if json_lines:
        _echo_pages(map(_renamed, pages()))
    elif last is not None:
        _print_about(last)


def target(path: str) -> str | BinaryIO:
    """Return the path, or standard output for ``-``."""
    return sys.stdout.buffer if path == STDOUT else path


def say_written(lines: int, path: str, *, err: bool = False) -> None:
    """Print how many lines a file has; on standard error if the lines went to standard output."""
    where = "standard output" if path == STDOUT else path
    say(f"{count(lines, 'line')} written to {where}.", err=err or path == STDOUT)


def check_stdout(params: Iterable[click.Parameter], values: Mapping[str, Any]) -> None:
    """Check that at most one output goes to standard output.

    Raises
    ------
    UsageError
    """
    files = [p for p in params if p.metavar == FILE and values.get(p.name or "") == STDOUT]
    flags = [p for p in params if p.name in ("as_json", "json_lines") and values.get(p.name)]
    names = [p.opts[0] for p in (*files, *flags)]
    if files and len(names) > 1:
        raise click.UsageError(
            f"Only one of {' and '.join(names)} can be written to standard output. Pass files for the others."
        )


def _echo_pages(pages: Iterable[pa.Table]) -> None:
    """Write tables as lines of JSON, as they come; then their stops and versions on standard error."""
    for page in pages:
        for batch in page.to_batches(max_chunksize=_BATCH):
            for line in batch.to_pylist():
                click.echo(escape_json(json.dumps(plain(line), ensure_ascii=False, allow_nan=False)))
    _print_about(page)


def show_table(
    table: pa.Table,
    *,
    csv_file: str | None = None,
    parquet_file: str | None = None,
    limit: int = 20,
    as_json: bool = False,
    json_lines: bool = False,
    **about: Any,
) -> None:
    """Write an answer to files, as JSON, or print its first lines."""
    from provspark.index_store.export.tables import write_csv, write_parquet
    from provspark.index_store.query.answer import gone_of, stops_of, versions_of
    from provspark.model.json_form import jsonable

    stops = stops_of(table)
    if csv_file or parquet_file or json_lines or as_json:
        table = _renamed(table)
    files: list[tuple[str | None, Callable[[pa.Table, Target], None]]]
    files = [(csv_file, write_csv), (parquet_file, write_parquet)]
    for path, write in files:
        if path:
            write(table, target(path))
            say_written(table.num_rows, path, err=as_json or STDOUT in (csv_file, parquet_file))
    if json_lines:
        _echo_pages([table])
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
            say(f"… {count(table.num_rows - limit, 'more line')}; pass --limit, --csv or --parquet for more")
        if not table.num_rows:
            say("No row found in the captured lineage." if stops else "No row.")
    _print_about(table)


def _renamed(table: pa.Table) -> pa.Table:
    """Return a table with renamed columns under both names, and print once that the former names will be removed."""
    from provspark.index_store.query.tabular import FORMER, both_names

    doubled = both_names(table)
    for name, former in FORMER.items():
        context = click.get_current_context()
        if former in {*doubled.column_names} - {*table.column_names} and former not in context.meta:
            context.meta[former] = True
            say(f"The column {former} is called {name} now. {former} goes with the next release.", dim=True, err=True)
    return doubled


def _print_about(table: pa.Table) -> None:
    """Print the version used, the rows that are gone, and the stops of an answer."""
    from provspark.index_store.query.answer import gone_of, stops_of, versions_of

    for used in versions_of(table)[:1]:
        say(f"Using {used}.", dim=True, err=True)
    for gone in gone_of(table):
        say(f"{gone}.", err=True)
    print_stops(stops_of(table))


def print_stops(stops: tuple[Stop, ...]) -> None:
    """Print the stops of an answer, except for unreadable steps, which `open_provenance` has named."""
    for stop in stops:
        if stop.what == "unreadable":
            continue
        style, text = told(stop)
        say(text, fg=style, err=True)


def told(stop: Stop) -> tuple[str, str]:
    """Return a stop's colour and its line of text."""
    from provspark.model.stops import sentence, stop_kind

    return "red" if stop_kind(stop.what).ends else "yellow", f"{stop.what}: {sentence(stop)}"
