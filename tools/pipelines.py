"""The published pipelines' tasks, to be run in this process one by one, under capture or as plain scripts."""

from __future__ import annotations

import runpy
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.dataset as ds

EXAMPLES = Path(__file__).resolve().parents[1] / "dags_examples"
DATA = EXAMPLES / "data"


@dataclass(frozen=True)
class Task:
    """A script, what it reads (files of the data folder, or outputs of tasks before it) and the name of its output."""

    script: str
    inputs: tuple[str, ...]
    output: str


CREDIT = (
    Task("credit/terms.py", ("german.csv",), "credit_terms"),
    Task("credit/encode.py", ("credit_terms",), "credit"),
    Task("credit/impute.py", ("credit",), "credit_imputed"),
)
COMPAS = (
    Task("compas/complete.py", ("compas.csv",), "compas_complete"),
    Task("compas/label.py", ("compas_complete",), "compas"),
    Task("compas/impute.py", ("compas.csv",), "compas_imputed"),
)
CENSUS = (
    Task("census/texts.py", ("census.csv",), "texts"),
    Task("census/regions.py", ("texts", "regions.csv"), "joined"),
    Task("census/encode.py", ("texts",), "census"),
    Task("census/impute.py", ("census",), "imputed"),
)
TASKS = (*CREDIT, *COMPAS, *CENSUS)


def place(folder: Path, name: str) -> str:
    """Where a data set of the pipelines lies: the sources in the examples' folder, outputs in `folder`."""
    return str(DATA / name if name.endswith(".csv") else folder / name)


def run(folder: Path, tasks: tuple[Task, ...], store: str | None, *options: str) -> None:
    """Run tasks in the session that is there, as steps of a store or, without one, as plain scripts."""
    from provspark.tracker.runner import main

    for task in tasks:
        arguments = [*(place(folder, name) for name in task.inputs), place(folder, task.output)]
        script = str(EXAMPLES / task.script)
        # The scripts of each folder have helper modules of the same names.
        with mock.patch.dict(sys.modules):
            if store is None:
                with mock.patch.object(sys, "argv", [script, *arguments]), mock.patch.object(sys, "path", [*sys.path]):
                    sys.path.insert(0, str(Path(script).parent))
                    runpy.run_path(script, run_name="__main__")
                continue
            own = ["--store", store, "--task-id", task.output, "--run-id", "run", "--dag-id", task.script.split("/")[0]]
            code = main([*own, "--on-error", "fail", *options, "--", script, *arguments])
            if code:
                raise RuntimeError(f"{task.script} ended with code {code}")


def table(folder: Path, name: str) -> pa.Table:
    """Rows of an output, in the order of their ids."""
    kinds = {"partitioning": ds.partitioning(flavor="hive")}
    return ds.dataset(folder / name, format="parquet", **kinds).to_table()
