"""Views of tables and of sets of rows."""

from __future__ import annotations

from itertools import chain
from typing import Any

from provspark.cli.inquiry import Inquiry
from provspark.cli.tables import show_pages, show_table

__all__ = ["show_answer", "show_columns", "show_correspondence", "show_derivations", "show_located", "show_rows"]


def show_answer(inquiry: Inquiry, **shown: Any) -> None:
    """Show an answer as its table."""
    answer = inquiry.answer()
    if pages := getattr(answer, "pages", None):
        show_pages(pages, answer.table, **shown)
    else:
        show_table(answer.table(), **shown)


def show_columns(inquiry: Inquiry, **shown: Any) -> None:
    """Show a `ColumnAnswer`, with the most important columns of its table first."""
    table = inquiry.answer().table()
    first = ["column", "related_column", "dependence", "kind", "exact", "dataset"]
    show_table(table.select(first + [n for n in table.column_names if n not in first]), **shown)


def show_correspondence(inquiry: Inquiry, *, pairs: bool, **shown: Any) -> None:
    """Show the size of a `Correspondence`, and the number of pairs of each row, or with `pairs` the pairs."""
    answer = inquiry.answer()
    using = inquiry.argument("using")
    whole = inquiry.answer(using=None) if using else answer
    about: dict[str, Any] = {"rows": len(whole.rows), "edges": whole.edges}
    if using:
        about["rows using them"] = len(answer.rows)
    if pairs:
        show_pages(answer.pages, answer.table, **shown, **about)
    else:
        show_table(answer.counts(), **shown, **about)


def show_derivations(inquiry: Inquiry, **shown: Any) -> None:
    """Show `Derivations`; only those that are shown are computed."""
    answer = inquiry.answer()
    most = None if shown["as_json"] else shown["limit"] + 1
    show_pages(lambda: chain([answer.table(0)], answer.batches()), lambda: answer.table(most), **shown)


def show_located(inquiry: Inquiry, **shown: Any) -> None:
    """Show `Located` rows, and the number of those that the other version lacks."""
    answer = inquiry.answer()
    show_table(answer.table(), **shown, target_version=answer.version, rows_gone=len(answer.gone))


def show_rows(inquiry: Inquiry, **shown: Any) -> None:
    """Show the row ids of a `RowSet`."""
    import pyarrow as pa

    answer = inquiry.answer()
    show_table(pa.table({"row": answer.rows()}), **shown, dataset=answer.dataset, version=answer.version)
