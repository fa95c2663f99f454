"""``provspark export``, and the views of neighbourhoods: rows or cells and the edges between them, for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import provspark.api  # registers the questions  # noqa: F401
from provspark.cli.common import STORE_OPTION, open_provenance
from provspark.cli.inquiry import Inquiry
from provspark.cli.marks import say
from provspark.cli.question_options import option, options, typed
from provspark.cli.render import count, echo_json
from provspark.cli.tables import FILE, STDOUT, check_stdout, print_stops, target
from provspark.index_store.query.parameters import parameters
from provspark.index_store.query.question import QUESTIONS
from provspark.model.errors import SettingsError

__all__ = ["GRAPH_OPTIONS", "OPERATIONS_OPTION", "PROV_JSON_OPTION", "export", "show_cells", "show_neighbourhood"]

PROV_JSON_OPTION = click.Option(["--prov-json"], metavar=FILE, help="Write W3C PROV as PROV-JSON.")
OPERATIONS_OPTION = click.Option(
    ["--operations/--no-operations"], default=True, help="Include the operations of each write in PROV-JSON."
)
GRAPH_OPTIONS = (
    PROV_JSON_OPTION,
    OPERATIONS_OPTION,
    click.Option(["--graphml"], metavar=FILE, help="Write GraphML."),
    click.Option(["--node-link"], metavar=FILE, help="Write NetworkX's node-link JSON."),
)
_NEAR, _CELLS = QUESTIONS["neighbourhood"], QUESTIONS["cell_neighbourhood"]
_COLUMNS = next(p for p in parameters(_CELLS) if p.name == "columns")
_ENDS_OPTIONS = (
    click.Option(["--csv", "csv_file"], metavar=FILE, help="Write the rows at the ends of all paths as CSV."),
    click.Option(
        ["--parquet", "parquet_file"], metavar=FILE, help="Write the rows at the ends of all paths as Parquet."
    ),
)


def show_neighbourhood(inquiry: Inquiry, *, as_json: bool, operations: bool, **files: str | None) -> None:
    """Print the size of a `Neighbourhood`, and write it to the given files."""
    near = inquiry.answer()
    if as_json:
        echo_json(near.node_link())
    _write_graphs(near, operations, **files)


def show_cells(inquiry: Inquiry, *, as_json: bool, operations: bool, prov_json: str | None) -> None:
    """Print the size of a `CellNeighbourhood`, and write it to the given file."""
    around = inquiry.answer()
    if as_json:
        echo_json(around.prov_json(operations=operations))
    if prov_json:
        _write_json(prov_json, around.prov_json(operations=operations))
    say(f"{count(len(around.cells), 'cell')}, {count(len(around.edges), 'edge')}.", err=True)
    print_stops(around.near.stops)


def _export(columns: tuple[str, ...], store: str | None, **values: Any) -> None:
    """Export the lineage of rows.

    The output is a graph of their sources or results, or a table of the rows at the ends of all paths. The file - is
    standard output. With --column, PROV-JSON also contains the cells of these columns.

    \b
    Examples:
      provspark export /data/report --row 17 --prov-json lineage.json
      provspark export /data/people.csv --row 3 --forward --graphml row3.graphml
    """
    check_stdout(click.get_current_context().command.params, values)
    operations = values["operations"]
    graphs = {o.name: values[o.name] for o in GRAPH_OPTIONS if o.name and o is not OPERATIONS_OPTION}
    csv_file, parquet_file = values["csv_file"], values["parquet_file"]
    if not any((*graphs.values(), csv_file, parquet_file)):
        raise SettingsError(
            "There is nothing to write. Pass --prov-json, --graphml, --node-link, --csv or --parquet with a FILE."
        )
    inquiry = Inquiry.of(open_provenance(store), _NEAR, typed(click.get_current_context()))
    both = inquiry.argument("direction") == "both"
    prov_json = graphs["prov_json"]
    if columns and (both or not prov_json):
        raise SettingsError(
            "--column needs --prov-json and can't be combined with --both. Pass --prov-json and remove --both."
        )
    if columns and prov_json:
        around = _CELLS.function(inquiry.prov, **inquiry.given, columns=columns)
        _write_json(prov_json, around.prov_json(operations=operations))
        graphs["prov_json"] = None
    if any(graphs.values()):
        _write_graphs(inquiry.answer(), operations, **graphs)
    elif columns:
        say(f"{count(len(around.near.rows))}, {count(len(around.near.edges), 'edge')}.", err=True)
        print_stops(around.near.stops)
    if csv_file or parquet_file:
        if both or "hops" in inquiry.given:
            raise SettingsError("--csv and --parquet write the ends of one direction. Remove --both and --hops.")
        _write_ends(inquiry, csv_file, parquet_file)


export = click.Command(
    "export",
    params=[*options(_NEAR), option(_CELLS, _COLUMNS), *GRAPH_OPTIONS, *_ENDS_OPTIONS, STORE_OPTION],
    callback=_export,
    help=_export.__doc__,
)


def _write_ends(inquiry: Inquiry, csv_file: str | None, parquet_file: str | None) -> None:
    from provspark.index_store.export.tables import write_pages

    chosen = {n: v for n, v in inquiry.given.items() if n not in ("direction", "limit")}
    answer = QUESTIONS[inquiry.argument("direction")].function(inquiry.prov, **chosen)
    for path in filter(None, (csv_file, parquet_file)):
        lines = write_pages(answer.pages(), target(path), csv=path is csv_file)
    say(f"{count(lines, 'line')}.", err=True)


def _write_graphs(
    near: Any, operations: bool, *, prov_json: str | None, graphml: str | None, node_link: str | None
) -> None:
    if prov_json:
        _write_json(prov_json, near.prov_json(operations=operations))
    if graphml:
        _write(graphml, near.graphml())
    if node_link:
        _write_json(node_link, near.node_link())
    say(f"{count(len(near.rows))}, {count(len(near.edges), 'edge')}.", err=True)
    print_stops(near.stops)


def _write_json(path: str, told: Any) -> None:
    _write(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def _write(path: str, text: str) -> None:
    if path == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as e:
        raise SettingsError(f"Can't write {path}: {e.strerror or e}. Pass a path that you may write to.") from e
