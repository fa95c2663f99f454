"""``provspark export``: rows and what lies around them, for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from provspark.cli.common import open_provenance
from provspark.cli.marks import say
from provspark.cli.render import count
from provspark.cli.selecting import print_stops, row_options, selected
from provspark.model.errors import SettingsError

__all__ = ["export"]


@click.command()
@row_options
@click.option("--backward", "direction", flag_value="backward", default="backward", help="What they came from.")
@click.option("--forward", "direction", flag_value="forward", help="What they went into, and where they were dropped.")
@click.option("--both", "direction", flag_value="both", help="Either.")
@click.option("--hops", type=click.IntRange(min=0), metavar="N", help="Steps to go through at most.")
@click.option("--limit", type=click.IntRange(min=1), default=10_000, show_default=True, help="Edges at most.")
@click.option("--column", "columns", multiple=True, metavar="NAME", help="In PROV-JSON, cells of this column, too.")
@click.option("--prov-json", metavar="FILE", help="W3C PROV, as PROV-JSON.")
@click.option("--operations/--no-operations", default=True, help="In PROV-JSON, the operations of each write, or not.")
@click.option("--graphml", metavar="FILE", help="GraphML.")
@click.option("--node-link", metavar="FILE", help="NetworkX's node-link JSON.")
@click.option("--csv", "csv_file", metavar="FILE", help="CSV of the ends: sources, or results.")
@click.option("--parquet", "parquet_file", metavar="FILE", help="Parquet of the ends.")
def export(
    direction: str,
    hops: int | None,
    limit: int,
    columns: tuple[str, ...],
    prov_json: str | None,
    operations: bool,
    graphml: str | None,
    node_link: str | None,
    csv_file: str | None,
    parquet_file: str | None,
    **given: Any,
) -> None:
    """Write the neighbourhood of rows of DATASET as a graph, or their ultimate ends as a table; - is standard output.

    \b
    Examples:
      provspark export /data/report --row 17 --prov-json lineage.json
      provspark export /data/people.csv --row 3 --forward --graphml row3.graphml
    """
    from provspark.index_store.export.tables import write_pages

    if not any((prov_json, graphml, node_link, csv_file, parquet_file)):
        raise SettingsError("nothing to write; give --prov-json, --graphml, --node-link, --csv or --parquet a FILE")
    prov = open_provenance(given.pop("store"))
    asked = selected(given)
    if columns and (direction == "both" or not prov_json):
        raise SettingsError("--column tells cells of one direction in PROV-JSON: give --prov-json, leave --both out")
    if prov_json or graphml or node_link:
        near = prov.neighbourhood(**asked, direction=direction, hops=hops, limit=limit)  # type: ignore[arg-type]
        if prov_json:
            told = near.prov_json(operations=operations)
            way: Any = direction
            if columns:
                around = prov.cell_neighbourhood(**asked, columns=columns, direction=way, hops=hops, limit=limit)
                told = around.prov_json(operations=operations)
            _write(prov_json, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
        if graphml:
            _write(graphml, near.graphml())
        if node_link:
            _write(node_link, json.dumps(near.node_link(), indent=1, ensure_ascii=False) + "\n")
        say(f"{count(len(near.rows))}, {count(len(near.edges), 'edge')}.", err=True)
        print_stops(near.stops)
    if csv_file or parquet_file:
        if direction == "both" or hops is not None:
            raise SettingsError("a table tells the ends of one direction: leave --both and --hops out")
        answer = (prov.backward if direction == "backward" else prov.forward)(**asked)
        for path in filter(None, (csv_file, parquet_file)):
            lines = write_pages(answer.pages(), path, csv=path is csv_file)
        say(f"{count(lines, 'line')}.", err=True)


def _write(path: str, text: str) -> None:
    if path == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as e:
        raise SettingsError(f"{path} can't be written: {e.strerror or e}") from e
