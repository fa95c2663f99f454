"""Runs the Census and the German credit pipelines, asks the literature's questions, and fills docs/questions.md."""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pipelines
import pyarrow as pa

REPORT = Path(__file__).resolve().parents[1] / "docs" / "questions.md"
START, END = "<!-- {} -->", "<!-- /{} -->"


@dataclass(frozen=True)
class Question:
    """One question of the literature, with the call that answers it on each pipeline; empty where it has no such."""

    name: str
    follows: str
    census: str
    german: str


TENSPROV = (
    Question("Q1 why, forward", "data", "prov.forward(SOURCE, [4])", "prov.forward(SOURCE, [17])"),
    Question("Q2 why, backward", "data", "prov.backward(IMPUTED, [4])", "prov.backward(IMPUTED, [17])"),
    Question(
        "Q3 why of a value, forward",
        "data",
        'prov.cells(SOURCE, [4], "sex", direction="forward")',
        'prov.cells(SOURCE, [17], "housing", direction="forward")',
    ),
    Question(
        "Q4 why of a value, backward",
        "data",
        'prov.cells(ENCODED, [4], "income")',
        'prov.cells(ENCODED, [17], "gender")',
    ),
    Question(
        "Q5 how, forward",
        "data",
        'prov.how(SOURCE, [4], direction="forward").operations()',
        'prov.how(SOURCE, [17], direction="forward").operations()',
    ),
    Question("Q6 how, backward", "data", "prov.how(IMPUTED, [4]).operations()", "prov.how(IMPUTED, [17]).operations()"),
    Question(
        "Q7 how of a value, forward",
        "data",
        'prov.operations(SOURCE, [4], "sex", direction="forward")',
        'prov.operations(SOURCE, [17], "housing", direction="forward")',
    ),
    Question(
        "Q8 how of a value, backward",
        "data",
        'prov.operations(ENCODED, [4], "income")',
        'prov.operations(ENCODED, [17], "gender")',
    ),
    Question("Q9 all transformations", "all", "prov.operations(IMPUTED)", "prov.operations(IMPUTED)"),
    Question("Q10 co-contributory", "data", "prov.co_contributory(TEXTS, [4], to=REGIONS, via=JOINED)", ""),
    Question("Q11 co-dependency", "data", "prov.co_dependency(JOINED, [3], to=JOINED, via=REGIONS)", ""),
)
CHAPMAN = (
    Question("PQ1 all transformations", "all", "prov.operations(IMPUTED)", "prov.operations(IMPUTED)"),
    Question(
        "PQ2 why",
        "data; with context here",
        'prov.backward(IMPUTED, [4], kinds=("data", "context"))',
        'prov.backward(IMPUTED, [17], kinds=("data", "context"))',
    ),
    Question("PQ3 how", "data", "prov.how(ENCODED, [4]).operations()", "prov.how(ENCODED, [17]).operations()"),
    Question(
        "PQ4 feature operations",
        "data and context",
        'prov.operations(IMPUTED, column="capital_gain")',
        'prov.operations(IMPUTED, column="credit_amount")',
    ),
    Question("PQ5 record operations", "data", "prov.operations(IMPUTED, [4])", "prov.operations(IMPUTED, [17])"),
    Question(
        "PQ6 item operations",
        "data",
        'prov.operations(IMPUTED, [4], "capital_gain")',
        'prov.operations(IMPUTED, [17], "credit_amount")',
    ),
    Question(
        "PQ7 feature invalidation",
        "all",
        'prov.dropped(SOURCE, "fnlwgt")',
        'prov.dropped(SOURCE, "personal_status")',
    ),
    Question(
        "PQ8 record invalidation",
        "data",
        "prov.history(TEXTS, [14]).endings",
        "prov.history(TERMS, [17]).endings",
    ),
    Question(
        "PQ9 item invalidation",
        "data",
        '(prov.dropped(TEXTS, "native_country"), prov.history(TEXTS, [14]).endings)',
        '(prov.dropped(TERMS, "housing"), prov.history(TERMS, [17]).endings)',
    ),
    Question(
        "PQ10 item history",
        "data",
        'prov.replay(ENCODED, [4]), "sex"',
        'prov.replay(IMPUTED, [17]), "credit_amount"',
    ),
    Question("PQ11 record history", "data", "prov.history(ENCODED, [4])", "prov.history(IMPUTED, [17])"),
    Question(
        "PQ12 impact on feature spread",
        "-",
        'prov.impact(IMPUTED, "capital_gain").table()',
        'prov.impact(IMPUTED, "credit_amount").table()',
    ),
    Question("PQ13 impact on data set spread", "-", "prov.impact(ENCODED).table()", "prov.impact(ENCODED).table()"),
)
INTERMEDIATE = (
    Question(
        "Q1, Q5 forward",
        "data",
        "after(prov.replay(TEXTS, [4], step=ENCODED_STEP), 3)",
        "after(prov.replay(TERMS, [17], step=ENCODED_STEP), 3)",
    ),
    Question(
        "Q2, Q6 backward",
        "data",
        "before(prov.replay(ENCODED, [4]), 3)",
        "before(prov.replay(ENCODED, [17]), 3)",
    ),
    Question(
        "Q3, Q7 a value forward",
        "data",
        'changes(prov.replay(TEXTS, [4], step=ENCODED_STEP), "sex")',
        'changes(prov.replay(TERMS, [17], step=ENCODED_STEP), "gender")',
    ),
    Question(
        "Q4, Q8 a value backward",
        "data",
        'changes(prov.replay(TEXTS, [4]), "workclass")',
        'changes(prov.replay(IMPUTED, [17]), "credit_amount")',
    ),
    Question(
        "Q9 all transformations",
        "all",
        "prov.counts(JOINED_STEP)",
        "prov.counts(IMPUTED_STEP)",
    ),
    Question("Q10 co-contributory", "data", "joined(prov.replay(JOINED, [3]))", ""),
    Question(
        "Q11 co-dependency",
        "data",
        "joined(prov.replay(REGIONS, [6], step=JOINED_STEP, all_sources=True))",
        "",
    ),
    Question(
        "PQ12 impact on feature spread",
        "-",
        'prov.operation_profiles(IMPUTED, [1], columns=["capital_gain"]).impact(1).table()',
        'prov.operation_profiles(IMPUTED, [7], columns=["credit_amount"]).impact(7).table()',
    ),
    Question(
        "PQ13 impact on data set spread",
        "-",
        "prov.operation_profiles(ENCODED, [1]).impact(1).table()",
        "prov.operation_profiles(ENCODED, [1]).impact(1).table()",
    ),
)
"""Rows between the operations of one step, by replay."""


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
        pipelines.run(folder, (*pipelines.CREDIT, *pipelines.CENSUS), str(folder / "prov"))
    asking = Asking(folder, options.runs)
    _publish("machine", _machine(options.runs))
    _publish("tensprov", asking.table(TENSPROV))
    _publish("chapman", asking.table(CHAPMAN))
    _publish("intermediate", asking.table(INTERMEDIATE))


def _session() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("questions")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(name, value)
    builder.getOrCreate()


class Asking:
    """The two pipelines' names, and what answers and tells about them."""

    def __init__(self, folder: Path, runs: int) -> None:
        import provspark

        self.prov = provspark.open(str(folder / "prov"))
        self.runs = runs
        census = {"TEXTS": "texts", "JOINED": "joined", "ENCODED": "census", "IMPUTED": "imputed"}
        german = {"TERMS": "credit_terms", "ENCODED": "credit", "IMPUTED": "credit_imputed"}
        self.names = {
            "census": self._named(folder, {**census, "SOURCE": "census.csv", "REGIONS": "regions.csv"}),
            "german": self._named(folder, {**german, "SOURCE": "german.csv"}),
        }

    def _named(self, folder: Path, outputs: dict[str, str]) -> dict[str, Any]:
        steps = {line["outputs"][0]: line["step"] for line in self.prov.steps().table().to_pylist()}
        places = {name: pipelines.place(folder, output) for name, output in outputs.items()}
        made = {f"{name}_STEP": steps[f"file://{p}"] for name, p in places.items() if f"file://{p}" in steps}
        helpers = {"after": after, "before": before, "changes": changes, "joined": joined}
        return {"prov": self.prov, **places, **made, **helpers}

    def table(self, questions: tuple[Question, ...]) -> str:
        """Ask each question on both pipelines."""
        lines = ["| question | follows | on | call | answer | ms |", "| --- | --- | --- | --- | --- | --- |"]
        for question in questions:
            for label, names, call in (
                ("Census", self.names["census"], question.census),
                ("German", self.names["german"], question.german),
            ):
                if not call:
                    lines.append(f"| {question.name} | {question.follows} | {label} | | no step of it joins | |")
                    continue
                print(f"{question.name}: {call}", file=sys.stderr, flush=True)
                told, milliseconds = self.ask(call, names)
                lines.append(f"| {question.name} | {question.follows} | {label} | `{call}` | {told} | {milliseconds} |")
        return "\n".join(lines)

    def ask(self, call: str, names: dict[str, Any]) -> tuple[str, str]:
        """Answer a call, briefly, and its median time once it is warm."""
        answer = eval(call, names)
        times = []
        for _ in range(self.runs):
            began = time.perf_counter()
            eval(call, names)
            times.append(1000 * (time.perf_counter() - began))
        middle = statistics.median(times)
        return brief(answer).replace("|", "\\|"), f"{middle:,.0f}" if middle >= 10 else f"{middle:.1f}"


def after(replayed: Any, operation: int) -> dict[str, Any]:
    """What becomes of the rows that stand after an operation: the operations ahead, and the output's rows."""
    ahead = [s.operation.text for s in replayed.stages if s.operation.index > operation]
    return {
        "rows": len(replayed.stage(operation).lines),
        "operations ahead": len(ahead),
        "output rows": replayed.results,
    }


def before(replayed: Any, operation: int) -> dict[str, Any]:
    """Where the rows that stand after an operation come from: the operations behind, and rows of inputs."""
    behind = [s.operation.text for s in replayed.stages if s.operation.index <= operation]
    sources = {f"{name(s.dataset)} {s.row}" for line in replayed.stage(operation).lines for s in line.sources}
    return {"operations behind": len(behind), "from": ", ".join(sorted(sources))}


def changes(replayed: Any, column: str) -> list[str]:
    """The operations that made or changed a column of the first row, with its value after each."""
    found = []
    for stage in replayed.stages:
        line = stage.lines[0]
        if column in (*line.changed, *line.added):
            value = line.values[stage.columns.index(column)]
            found.append(f"{short(stage.operation.text)} → {value!r}")
    return found


def joined(replayed: Any) -> dict[str, Any]:
    """The rows that stand together after the join, by the data sets that they come from."""
    (stage,) = (s for s in replayed.stages if s.operation.node == "Join")
    found = [sorted({f"{name(s.dataset)} {s.row}" for s in line.sources}) for line in stage.lines]
    return {"rows after the join": len(found), "the first": " with ".join(found[0])}


def brief(answer: Any) -> str:
    """An answer in a few words."""
    if isinstance(answer, pa.Table):
        return _table(answer)
    if isinstance(answer, dict):
        return "; ".join(f"{k}: {list(v) if isinstance(v, tuple) else v}" for k, v in answer.items())
    if isinstance(answer, list):
        return _some([f"`{a}`" for a in answer]) if answer else "nothing"
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], str):
        return brief(changes(*answer))
    if isinstance(answer, tuple) and answer and isinstance(answer[0], pa.Table):
        return "; ".join(brief(a) for a in answer)
    if isinstance(answer, tuple):
        return _some([f"`{short(str(e))}`" for _, e in answer]) if answer else "no record ends"
    passages = [f"{name(p.dataset)} ({len(p.replayed.stages) if p.replayed else p.why})" for p in answer.passages]
    return f"operations replayed: {', '.join(passages)}; ended: {len(answer.endings)}"


def _table(answer: pa.Table) -> str:
    names, lines = answer.column_names, answer.to_pylist()
    if "related_column" in names:
        exact = sum(line["exact"] for line in lines)
        told = dict.fromkeys(
            f"{name(line['dataset'])} {line['related_row']} {line['related_column']} ({line['dependence']})"
            for line in lines
        )
        return _some(list(told)) + (f"; {len(lines) - exact} of {len(lines)} a superset" if exact < len(lines) else "")
    if "related_row" in names:
        rows: dict[str, list[int]] = {}
        for line in lines:
            kind = "" if line["kind"] == "data" else ", context"
            rows.setdefault(f"{name(line['dataset'])}{kind}", []).append(line["related_row"])
        return "; ".join(f"{n}: {_some(list(map(str, sorted(r))))}" for n, r in sorted(rows.items())) or "no row"
    if "known_as" in names:
        return _some(
            [
                f"`{short(line['text'])}` in {name(line['dataset'])}, into {_some(line['into'] or ['nothing'])}"
                for line in lines
            ]
        )
    if "category" in names:
        counts = Counter(c for line in lines for c in line["category"])
        return f"{len(lines)} operations: " + ", ".join(f"{n} {c}" for c, n in counts.most_common())
    if "rows_out" in names:
        return _some([f"`{short(line['text'])}` {line['rows_in']} → {line['rows_out']}" for line in lines])
    told = {(line["column"], line["measure"]): line for line in lines}
    columns = {c for c, _ in told if c is not None}
    if len(columns) == 1:
        (column,) = columns
        return "; ".join(
            f"{m} {_number(line['before'])} → {_number(line['after'])}"
            for (c, m), line in told.items()
            if c == column and m in ("nulls", "distinct", "mean", "deviation")
        )
    came = sum(told[c, "count"]["before"] is None for c in columns)
    went = sum(told[c, "count"]["after"] is None for c in columns)
    rows_line = told[None, "rows"]
    return (
        f"rows {_number(rows_line['before'])} → {_number(rows_line['after'])}; {came} columns came, {went} went, "
        f"{len(columns) - came - went} stayed"
    )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:,.6g}"


def _some(texts: list[str], most: int = 3) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most:,} more" if len(texts) > most else "")


def short(text: str, width: int = 60) -> str:
    """The beginning of a text, without paths of this machine."""
    text = re.sub(r"file://\S*/", "", text.replace(str(pipelines.EXAMPLES) + "/", "")).replace("`", "'")
    return text if len(text) <= width else text[: width - 1] + "…"


def name(dataset: str) -> str:
    """The last part of a data set's name."""
    return dataset.rstrip("/").rsplit("/", 1)[-1]


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
