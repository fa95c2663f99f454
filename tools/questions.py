"""Runs the published pipelines and the queries of two papers on them, and writes the tables of docs/questions.md.

Only this module contains the calls: docs/questions.md prints them, and tests/provider/test_pipelines.py runs them.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pipelines
from briefs import brief, name, short

REPORT = Path(__file__).resolve().parents[1] / "docs" / "questions.md"
START, END = "<!-- {} -->", "<!-- /{} -->"


@dataclass(frozen=True)
class Question:
    """A query that a paper defines, with its call on each pipeline; "" if it does not apply to the pipeline."""

    name: str
    definition: str
    follows: str
    census: str
    german: str
    compas: str

    @property
    def calls(self) -> dict[str, str]:
        """The calls by their pipeline."""
        return {"census": self.census, "german": self.german, "compas": self.compas}


TENSPROV = (
    Question(
        "Q1 why, forward",
        "the records that derive from a record",
        "data",
        "prov.forward(SOURCE, [4])",
        "prov.forward(SOURCE, [17])",
        "prov.forward(SOURCE, [5])",
    ),
    Question(
        "Q2 why, backward",
        "the source records that a record derives from",
        "data",
        "prov.backward(IMPUTED, [4])",
        "prov.backward(IMPUTED, [17])",
        "prov.backward(ENCODED, [4])",
    ),
    Question(
        "Q3 why of a value, forward",
        "the values that derive from an attribute value",
        "data",
        'prov.cells(SOURCE, [4], "sex", direction="forward")',
        'prov.cells(SOURCE, [17], "housing", direction="forward")',
        'prov.cells(SOURCE, [5], "race", direction="forward")',
    ),
    Question(
        "Q4 why of a value, backward",
        "the source values that an attribute value derives from",
        "data",
        'prov.cells(ENCODED, [4], "income")',
        'prov.cells(ENCODED, [17], "gender")',
        'prov.cells(ENCODED, [4], "jailtime")',
    ),
    Question(
        "Q5 how, forward",
        "the records that derive from a record, with the operations on the path to each",
        "data",
        'prov.how(SOURCE, [4], direction="forward")',
        'prov.how(SOURCE, [17], direction="forward")',
        'prov.how(SOURCE, [5], direction="forward")',
    ),
    Question(
        "Q6 how, backward",
        "the source records that a record derives from, with the operations on the path from each",
        "data",
        "prov.how(IMPUTED, [4])",
        "prov.how(IMPUTED, [17])",
        "prov.how(ENCODED, [4])",
    ),
    Question(
        "Q7 how of a value, forward",
        "the values that derive from an attribute value, with the operations on the path to each",
        "data",
        'prov.how(SOURCE, [4], "sex", direction="forward")',
        'prov.how(SOURCE, [17], "housing", direction="forward")',
        'prov.how(SOURCE, [5], "race", direction="forward")',
    ),
    Question(
        "Q8 how of a value, backward",
        "the source values that an attribute value derives from, with the operations on the path from each",
        "data",
        'prov.how(ENCODED, [4], "income")',
        'prov.how(ENCODED, [17], "gender")',
        'prov.how(ENCODED, [4], "jailtime")',
    ),
    Question(
        "Q9 all transformations",
        "all operations that produced a dataset",
        "all",
        "prov.operations(IMPUTED)",
        "prov.operations(IMPUTED)",
        "prov.operations(ENCODED)",
    ),
    Question(
        "Q10 co-contributory",
        "the records of another dataset that were used together with a record",
        "data",
        "prov.co_contributory(TEXTS, [4], to=REGIONS, via=JOINED)",
        "",
        "",
    ),
    Question(
        "Q11 co-dependency",
        "the records that share a source record with a given record",
        "data",
        "prov.co_dependency(JOINED, [3], to=JOINED, via=REGIONS)",
        "",
        "",
    ),
)
CHAPMAN = (
    Question(
        "PQ1 all transformations",
        "all operations applied to a dataset, with the features that each affects",
        "all",
        "prov.operations(IMPUTED)",
        "prov.operations(IMPUTED)",
        "prov.operations(ENCODED)",
    ),
    Question(
        "PQ2 why",
        "the input items that influenced an item",
        "data and context",
        'prov.cells(IMPUTED, [4], "capital_gain", kinds=("data", "context"))',
        'prov.cells(IMPUTED, [17], "credit_amount", kinds=("data", "context"))',
        'prov.cells(IMPUTED, [4], "days_b_screening_arrest", kinds=("data", "context"))',
    ),
    Question(
        "PQ3 how",
        "the input items that influenced an item, with the operations on the path",
        "data and context",
        'prov.how(IMPUTED, [4], "capital_gain", kinds=("data", "context"))',
        'prov.how(IMPUTED, [17], "credit_amount", kinds=("data", "context"))',
        'prov.how(IMPUTED, [4], "days_b_screening_arrest", kinds=("data", "context"))',
    ),
    Question(
        "PQ4 feature operations",
        "the operations applied to a feature",
        "data and context",
        'prov.operations(IMPUTED, column="capital_gain")',
        'prov.operations(IMPUTED, column="credit_amount")',
        'prov.operations(ENCODED, column="label")',
    ),
    Question(
        "PQ5 record operations",
        "the operations applied to a record",
        "data",
        "prov.operations(IMPUTED, [4])",
        "prov.operations(IMPUTED, [17])",
        "prov.operations(ENCODED, [4])",
    ),
    Question(
        "PQ6 item operations",
        "the operations applied to an item",
        "data",
        'prov.operations(IMPUTED, [4], "capital_gain")',
        'prov.operations(IMPUTED, [17], "credit_amount")',
        'prov.operations(ENCODED, [4], "label")',
    ),
    Question(
        "PQ7 feature invalidation",
        "the operation that deleted a feature",
        "all",
        'prov.dropped(SOURCE, "fnlwgt")',
        'prov.dropped(SOURCE, "personal_status")',
        'prov.dropped(COMPLETE, "two_year_recid")',
    ),
    Question(
        "PQ8 record invalidation",
        "the operation that deleted a record",
        "data",
        'prov.history(TEXTS, [14], direction="forward").endings',
        'prov.history(TERMS, [17], direction="forward").endings',
        'prov.history(SOURCE, [4], direction="forward").endings',
    ),
    Question(
        "PQ9 item invalidation",
        "the operation that deleted an item, with its feature or with its record",
        "data",
        'prov.history(TEXTS, [14], "native_country", direction="forward")',
        'prov.history(TERMS, [17], "housing", direction="forward")',
        'prov.history(SOURCE, [4], "two_year_recid", direction="forward")',
    ),
    Question(
        "PQ10 item history",
        "the values that an item derives from and those that derive from it, after each operation of the pipeline",
        "data",
        'prov.history(IMPUTED, [4], "sex").cells()',
        'prov.history(IMPUTED, [17], "credit_amount").cells()',
        'prov.history(ENCODED, [4], "label").cells()',
    ),
    Question(
        "PQ11 record history",
        "the records that a record derives from and those that derive from it, after each operation of the pipeline",
        "data",
        "prov.history(IMPUTED, [4])",
        "prov.history(IMPUTED, [17])",
        "prov.history(ENCODED, [4])",
    ),
    Question(
        "PQ12 impact on feature spread",
        "how the distribution of a feature changed over the pipeline",
        "-",
        'prov.impact(IMPUTED, "capital_gain", source=SOURCE).table()',
        'prov.impact(IMPUTED, "credit_amount", source=SOURCE).table()',
        'prov.impact(ENCODED, "label", source=SOURCE).table()',
    ),
    Question(
        "PQ13 impact on dataset spread",
        "how the distributions of all features changed over the pipeline",
        "-",
        "prov.impact(IMPUTED, source=SOURCE).table()",
        "prov.impact(IMPUTED, source=SOURCE).table()",
        "prov.impact(ENCODED, source=SOURCE).table()",
    ),
)
INTERMEDIATE = (
    Question(
        "Q1, Q5 forward",
        "for the rows after an operation: the number of later operations, and the output rows",
        "data",
        "after(prov.replay(TEXTS, [4], step=ENCODED_STEP), 3)",
        "after(prov.replay(TERMS, [17], step=ENCODED_STEP), 3)",
        "after(prov.replay(COMPLETE, [4], step=ENCODED_STEP), 3)",
    ),
    Question(
        "Q2, Q6 backward",
        "for the rows after an operation: the number of earlier operations, and the source rows",
        "data",
        "before(prov.replay(ENCODED, [4]), 3)",
        "before(prov.replay(ENCODED, [17]), 3)",
        "before(prov.replay(ENCODED, [4]), 3)",
    ),
    Question(
        "Q3, Q7 a value forward",
        "the operations that set a value of the rows derived from a row, with the value after each",
        "data",
        'changes(prov.replay(TEXTS, [4], step=ENCODED_STEP), "sex")',
        'changes(prov.replay(TERMS, [17], step=ENCODED_STEP), "gender")',
        'changes(prov.replay(COMPLETE, [4], step=ENCODED_STEP), "jailtime")',
    ),
    Question(
        "Q4, Q8 a value backward",
        "the operations that set a value of a row, with the value after each",
        "data",
        'changes(prov.replay(TEXTS, [4]), "workclass")',
        'changes(prov.replay(IMPUTED, [17]), "credit_amount")',
        'changes(prov.replay(IMPUTED, [4]), "days_b_screening_arrest")',
    ),
    Question(
        "Q9 all transformations",
        "the operations of a step, with their rows in and out",
        "all",
        "prov.counts(JOINED_STEP)",
        "prov.counts(IMPUTED_STEP)",
        "prov.counts(COMPLETE_STEP)",
    ),
    Question(
        "Q10 co-contributory",
        "the rows that the join combines",
        "data",
        "joined(prov.replay(JOINED, [3]))",
        "",
        "",
    ),
    Question(
        "Q11 co-dependency",
        "the rows after the join that come from one row",
        "data",
        "joined(prov.replay(REGIONS, [6], step=JOINED_STEP, all_sources=True))",
        "",
        "",
    ),
    Question(
        "PQ12 impact on feature spread",
        "how the distribution of a feature changed over some operations",
        "-",
        'prov.operation_profiles(IMPUTED, [1], columns=["capital_gain"]).impact(1).table()',
        'prov.operation_profiles(IMPUTED, [0, 7], columns=["credit_amount"]).impact(7, since=0).table()',
        'prov.operation_profiles(IMPUTED, [5], columns=["days_b_screening_arrest"]).impact(5, 1).table()',
    ),
    Question(
        "PQ13 impact on dataset spread",
        "how the distributions of all features changed in an operation",
        "-",
        "prov.operation_profiles(ENCODED, [1]).impact(1).table()",
        "prov.operation_profiles(ENCODED, [1]).impact(1).table()",
        "prov.operation_profiles(ENCODED, [1]).impact(1).table()",
    ),
)
"""Rows between the operations of one step, by replay."""
SECTIONS = {"tensprov": TENSPROV, "chapman": CHAPMAN, "intermediate": INTERMEDIATE}
"""By the name of the table's place in docs/questions.md."""
LABELS = {"census": "Census", "german": "German", "compas": "COMPAS"}
PLACES = {
    "census": {
        "SOURCE": "census.csv",
        "REGIONS": "regions.csv",
        "TEXTS": "texts",
        "JOINED": "joined",
        "ENCODED": "census",
        "IMPUTED": "imputed",
    },
    "german": {"SOURCE": "german.csv", "TERMS": "credit_terms", "ENCODED": "credit", "IMPUTED": "credit_imputed"},
    "compas": {
        "SOURCE": "compas.csv",
        "COMPLETE": "compas_complete",
        "ENCODED": "compas",
        "IMPUTED": "compas_imputed",
    },
}


def names(pipeline: str, prov: Any, folder: Path) -> dict[str, Any]:
    """All names that the calls on a pipeline use."""
    steps = {line["outputs"][0]: line["step"] for line in prov.steps().table().to_pylist()}
    places = {name: pipelines.place(folder, output) for name, output in PLACES[pipeline].items()}
    made = {f"{name}_STEP": steps[f"file://{p}"] for name, p in places.items() if f"file://{p}" in steps}
    return {"prov": prov, **places, **made, "after": after, "before": before, "changes": changes, "joined": joined}


def main() -> None:
    """Run what is not there yet, ask, and rewrite the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=".questions", help="where the pipelines' data and store lie, or are made")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = Path(options.folder).resolve()
    if not (folder / "prov").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _session()
        pipelines.run(folder, pipelines.TASKS, str(folder / "prov"))
    asking = Asking(folder, options.runs)
    _publish("machine", _machine(options.runs))
    for section, table in SECTIONS.items():
        _publish(section, asking.table(table))


def _session() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("questions")
    for option, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(option, value)
    builder.getOrCreate()


class Asking:
    """The pipelines' names, and what answers and tells about them."""

    def __init__(self, folder: Path, runs: int) -> None:
        import provspark

        prov = provspark.open(str(folder / "prov"))
        self.runs = runs
        self.names = {pipeline: names(pipeline, prov, folder) for pipeline in LABELS}

    def table(self, questions: tuple[Question, ...]) -> str:
        """Ask each question on all pipelines."""
        lines = [
            "| query | definition | edges | pipeline | call | answer | ms |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for question in questions:
            about = f"| {question.name} | {question.definition} | {question.follows}"
            for pipeline, call in question.calls.items():
                label = LABELS[pipeline]
                if not call:
                    lines.append(f"{about} | {label} | | not applicable: no joins in this pipeline | |")
                    continue
                print(f"{question.name}: {call}", file=sys.stderr, flush=True)
                told, milliseconds = self.ask(call, self.names[pipeline])
                lines.append(f"{about} | {label} | `{call}` | {told} | {milliseconds} |")
        return "\n".join(lines)

    def ask(self, call: str, known: dict[str, Any]) -> tuple[str, str]:
        """Answer a call, briefly, and its median time once it is warm."""
        answer = eval(call, known)
        times = []
        for _ in range(self.runs):
            began = time.perf_counter()
            eval(call, known)
            times.append(1000 * (time.perf_counter() - began))
        middle = statistics.median(times)
        return brief(answer).replace("|", "\\|"), f"{middle:,.0f}" if middle >= 10 else f"{middle:.1f}"


def after(replayed: Any, operation: int) -> dict[str, Any]:
    """Return the number of later operations, and the output rows, for the rows after an operation."""
    ahead = [s.operation.text for s in replayed.stages if s.operation.index > operation]
    return {
        "rows": len(replayed.stage(operation).lines),
        "later operations": len(ahead),
        "output rows": replayed.results,
    }


def before(replayed: Any, operation: int) -> dict[str, Any]:
    """Return the number of earlier operations, and the source rows, for the rows after an operation."""
    behind = [s.operation.text for s in replayed.stages if s.operation.index <= operation]
    sources = {f"{name(s.dataset)} {s.row}" for line in replayed.stage(operation).lines for s in line.sources}
    return {"earlier operations": len(behind), "from": ", ".join(sorted(sources))}


def changes(replayed: Any, column: str) -> list[str]:
    """Return the operations that set a column of the first row, with its value after each."""
    found = []
    for stage in replayed.stages:
        line = stage.lines[0]
        if column in (*line.changed, *line.added):
            value = line.values[stage.columns.index(column)]
            found.append(f"{short(stage.operation.text)} → {value!r}")
    return found


def joined(replayed: Any) -> dict[str, Any]:
    """Return the source rows that the join combines, for its first output row, and the number of its output rows."""
    (stage,) = (s for s in replayed.stages if s.operation.node == "Join")
    found = [sorted({f"{name(s.dataset)} {s.row}" for s in line.sources}) for line in stage.lines]
    return {"rows after the join": len(found), "the first": " with ".join(found[0])}


def _machine(runs: int) -> str:
    import pyspark

    return (
        f"{os.cpu_count()} cores, Python {platform.python_version()}, Spark {pyspark.__version__}, "
        f"{date.today().isoformat()}; medians of {runs} after a first call that is not counted."
    )


def _publish(section: str, text: str) -> None:
    start, end = START.format(section), END.format(section)
    report = REPORT.read_text(encoding="utf-8")
    head, rest = report.split(start, 1)
    REPORT.write_text(f"{head}{start}\n\n{text}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
