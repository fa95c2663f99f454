"""The notebook in docs: it runs, and shows what it was saved with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


@pytest.mark.long
@pytest.mark.spark
def test_the_notebook_shows_what_it_was_saved_with(tmp_path: Path) -> None:
    """`jupyter execute --inplace docs/notebook.ipynb` saves it anew."""
    saved = nbformat.read(NOTEBOOK, nbformat.NO_CONVERT)
    run = nbformat.read(NOTEBOOK, nbformat.NO_CONVERT)
    NotebookClient(run, timeout=400, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [shown(cell) for cell in run.cells] == [shown(cell) for cell in saved.cells]


def test_nothing_of_a_machine_is_in_it() -> None:
    """Spark's log names hosts, folders and times."""
    saved = nbformat.read(NOTEBOOK, nbformat.NO_CONVERT)
    outputs = [output for cell in saved.cells for output in cell.get("outputs", [])]
    assert outputs and not [output for output in outputs if output["output_type"] in ("stream", "error")]


def shown(cell: Any) -> list[str]:
    """What a cell shows, without ids, which differ in each run."""
    results = [o["data"] for o in cell.get("outputs", []) if o["output_type"] != "stream"]
    return [re.sub(r"\b[0-9a-f]{8,32}\b", "ID", "".join(data.get("text/plain", ""))) for data in results]
