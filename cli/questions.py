"""Commands of questions that compare rows: ``co-contributory``, ``composition``, ``locate`` and others."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from provspark.cli.common import open_provenance
from provspark.cli.selecting import (
    ahead_options,
    answer_options,
    row_options,
    selected,
    selection_options,
    show_pages,
    show_table,
    shown,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["co_contributory", "co_dependency", "composition", "correspondence", "derivations", "locate"]


@click.command("co-contributory")
@row_options
@click.option("--to", required=True, metavar="DATASET", help="The data set whose rows are wanted.")
@click.option("--via", metavar="DATASET", help="Derivations of this data set's rows only.")
@answer_options
def co_contributory(to: str, via: str | None, **given: Any) -> None:
    """Find the rows that stand in one derivation with rows of DATASET: what they were used with.

    \b
    Example, the order lines joined with order 7 on the way to the report:
      provspark co-contributory /data/orders --row 7 --to /data/lines --via /data/report
    """
    prov = open_provenance(given.pop("store"))
    answer = prov.co_contributory(**selected(given), to=to, via=via)
    show_pages(answer.pages, answer.table, **shown(given))


@click.command("co-dependency")
@row_options
@ahead_options()
@click.option("--to", required=True, metavar="DATASET", help="The data set whose rows are wanted.")
@click.option("--via", required=True, metavar="DATASET", help="The data set, or step, of the witnesses.")
@answer_options
def co_dependency(to: str, via: str, **given: Any) -> None:
    """Find the rows that share a witness with rows of DATASET.

    \b
    Example, the report's rows that stand on a person of row 3, too:
      provspark co-dependency /data/report --row 3 --to /data/report --via /data/people
    """
    prov = open_provenance(given.pop("store"))
    answer = prov.co_dependency(**selected(given), to=to, via=via)
    show_pages(answer.pages, answer.table, **shown(given))


@click.command()
@row_options
@click.option("--source", required=True, metavar="DATASET", help="The data set of the witnesses.")
@click.option("--column", required=True, metavar="NAME", help="Its column, or struct.field.")
@click.option("--together", is_flag=True, help="All rows as one, each witness once.")
@answer_options
def composition(source: str, column: str, together: bool, **given: Any) -> None:
    """Tell how the witnesses of rows of DATASET divide over a column of a source.

    \b
    Example:
      provspark composition /data/report --source /data/people --column sex
    """
    prov = open_provenance(given.pop("store"))
    table = prov.composition(**selected(given), source=source, column=column, each=not together).table()
    show_table(table, **shown(given))


@click.command()
@row_options
@click.option("--to", required=True, metavar="DATASET", help="A data set that it came from.")
@click.option("--via", multiple=True, metavar="PLACE", help="A data set or step on the way; may be given again.")
@click.option("--using", multiple=True, metavar="CONDITION", help="Only rows that use a row of the other as this.")
@click.option("--pairs", is_flag=True, help="Tell the pairs instead of each row's number of counterparts.")
@answer_options
def correspondence(to: str, via: tuple[str, ...], using: tuple[str, ...], pairs: bool, **given: Any) -> None:
    """Relate all rows of DATASET to all rows of another data set that they came from, and count.

    \b
    Example, how many rows of the report use at least one person without consent:
      provspark correspondence /data/report --to /data/people --using consent=false
    """
    from provspark.index_store.values.selection import parse_condition

    prov = open_provenance(given.pop("store"))
    whole = prov.correspondence(**selected(given), to=to, via=via)
    about: dict[str, Any] = {"rows": len(whole.rows), "edges": whole.edges}
    among = None
    if using:
        wanted = [parse_condition(text) for text in using]
        chosen = [prov.select(to, version=at.version, where=wanted) for at in whole.sources()]
        rows = whole.using(*chosen)
        about["rows using them"] = len(rows)
        among = rows.rows()

    def chosen_of(table: pa.Table) -> pa.Table:
        return table if among is None else _among(table, among)

    if not pairs:
        show_table(chosen_of(whole.counts()), **shown(given), **about)
        return
    show_pages(lambda: map(chosen_of, whole.pages()), lambda: chosen_of(whole.table()), **shown(given), **about)


def _among(table: pa.Table, rows: Any) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["row"], value_set=pa.array(rows)))


@click.command()
@selection_options
@click.option(
    "--target-version",
    "target",
    metavar="ID",
    help="Version in which to look for the rows (default: the current one). --version, --run and --as-of choose the "
    "version that the row ids are from.",
)
@answer_options
def locate(target: str | None, **given: Any) -> None:
    """Find rows of a version of DATASET in another version: the same rows of the files that both have.

    \b
    Example, the row id that row 512 of an older version has now:
      provspark locate /data/log --row 512 --version 1652bf30b994a8577270d871132b62bd
    """
    prov = open_provenance(given.pop("store"))
    how_shown = shown(given)
    answer = prov.locate(prov.select(**selected(given)), into=target)
    show_table(answer.table(), **how_shown, target_version=answer.version, rows_gone=len(answer.gone))


@click.command()
@selection_options
@answer_options
def derivations(**given: Any) -> None:
    """List the ways in which rows of DATASET came about: one row of each occurrence of an input.

    \b
    Example:
      provspark derivations /data/joined --row 17 --limit 5
    """
    prov = open_provenance(given.pop("store"))
    answer = prov.derivations(**selected(given))
    how_shown = shown(given)
    most = None if how_shown["as_json"] else how_shown["limit"] + 1
    show_pages(lambda: chain([answer.table(0)], answer.batches()), lambda: answer.table(most), **how_shown)
