"""The published pipelines: what plain Spark writes, and rows and lineage worked out without Spark."""

from __future__ import annotations

import random
import re
import runpy
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from _pipeline_features import ENCODE, FEATURES, OF_COMPAS, READ, READS, TEXTS
from oracle import pipelines as oracle
from oracle import profiles
from pyspark.sql.classic.dataframe import DataFrame
from pyspark.sql.readwriter import DataFrameReader

import provspark

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import pipelines
import questions
from _paper_answers import Check
from pipelines import CENSUS, DATA, EXAMPLES, TASKS, Task, place

pytestmark = pytest.mark.spark

SHAPES = {
    "credit_terms": (1000, 21),
    "credit": (1000, 60),
    "credit_imputed": (1000, 60),
    "compas_complete": (6907, 9),
    "compas": (6907, 8),
    "compas_imputed": (7214, 9),
    "texts": (32561, 15),
    "census": (32561, 104),
    "imputed": (32561, 104),
}


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pipelines")
    pipelines.run(folder, TASKS, str(folder / "prov"))
    return folder


@pytest.fixture(scope="module")
def prov(folder: Path) -> Any:
    return provspark.open(str(folder / "prov"))


@pytest.fixture(scope="module")
def expected() -> dict[str, oracle.Lines]:
    book = runpy.run_path(str(EXAMPLES / "credit" / "codes.py"))
    terms = oracle.credit_terms(DATA / "german.csv", book["TERMS"])
    credit = oracle.credit_encoded(terms, book["TERMS"], book["STATUS"], book["WOMEN"])
    amounts = [float(row["credit_amount"]) for _, row in credit]
    mean, spread = statistics.fmean(amounts), statistics.stdev(amounts)
    floats = [(line, row | {"credit_amount": float(row["credit_amount"])}) for line, row in credit]
    complete = oracle.compas_complete(DATA / "compas.csv")
    compas = [(line, {c: row[c] for c in oracle.COMPAS}) for line, row in oracle.lines(DATA / "compas.csv")]
    days = "days_b_screening_arrest"
    for _, row in compas:
        row[days] = None if row[days] is None else float(row[days])
    texts = oracle.census_texts(DATA / "census.csv")
    census = oracle.census_encoded(texts)
    return {
        "credit_terms": terms,
        "credit": credit,
        "credit_imputed": oracle.filled(
            floats, "credit_amount", [i for i, a in enumerate(amounts) if abs(a - mean) > 3 * spread]
        ),
        "compas_complete": complete,
        "compas": oracle.compas_label(complete),
        "compas_imputed": oracle.filled(compas, days, [line for line, row in compas if row[days] is None]),
        "texts": texts,
        "census": census,
        # Spark's Imputer puts a mean of whole numbers as a whole number.
        "imputed": [
            (line, row | {"capital_gain": int(row["capital_gain"])})
            for line, row in oracle.filled(
                census, "capital_gain", [line for line, row in census if row["capital_gain"] == 99999]
            )
        ],
    }


def source(name: str) -> str:
    return str(DATA / next(k for k in _SOURCES if name in _SOURCES[k]))


_SOURCES = {
    "german.csv": ("credit_terms", "credit", "credit_imputed"),
    "compas.csv": ("compas_complete", "compas", "compas_imputed"),
    "census.csv": ("texts", "census", "imputed"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_rows_and_lines_are_the_oracles(name: str, folder: Path, prov: Any, expected: Any) -> None:
    table = pipelines.table(folder, name)
    assert table.shape == SHAPES[name]
    rows = table.to_pylist()
    assert set(rows[0]) == set(expected[name][0][1])
    close = {"credit_amount", "days_b_screening_arrest"}
    for row, (_, wanted) in zip(rows, expected[name], strict=True):
        assert row == wanted or all(row[k] == (pytest.approx(v) if k in close else v) for k, v in wanted.items())
    backward = prov.backward(place(folder, name), to=source(name)).table()
    assert backward["row"].to_pylist() == list(range(len(rows)))
    assert backward["related_row"].to_pylist() == [line for line, _ in expected[name]]


def test_the_join_takes_both_lines_of_each_row(folder: Path, prov: Any, expected: Any) -> None:
    rows = pipelines.table(folder, "joined").to_pylist()
    out = place(folder, "joined")
    people, regions = (
        dict(zip(found["row"].to_pylist(), found["related_row"].to_pylist(), strict=True))
        for found in (prov.backward(out, to=str(DATA / name)).table() for name in ("census.csv", "regions.csv"))
    )
    found = sorted((people[i], regions[i], sorted(map(str, row.items()))) for i, row in enumerate(rows))
    joined = oracle.census_joined(expected["texts"], oracle.lines(DATA / "regions.csv"))
    assert found == sorted((person, region, sorted(map(str, row.items()))) for person, region, row in joined)


@pytest.mark.parametrize(
    ("name", "context"),
    [("credit_imputed", 1000), ("compas_imputed", 7214), ("imputed", 32561)],
)
def test_an_imputed_mean_stands_on_every_record(name: str, context: int, folder: Path, prov: Any) -> None:
    used = prov.backward(place(folder, name), [5], to=source(name), kinds="context").table()
    assert set(used["related_row"].to_pylist()) >= set(range(context)) - {5}


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.output))
def test_what_is_written_is_what_plain_spark_writes(task: Task, folder: Path, tmp_path: Path) -> None:
    for name in task.inputs:
        if not name.endswith(".csv"):
            (tmp_path / name).symlink_to(folder / name)
    pipelines.run(tmp_path, (task,), None)
    assert pipelines.table(folder, task.output).equals(pipelines.table(tmp_path, task.output))


def test_every_task_is_captured_exactly(prov: Any) -> None:
    steps = prov.steps().table()
    assert set(steps["coverage"].to_pylist()) == {"exact"}
    assert steps.num_rows == len(TASKS) > len(CENSUS)


# -- the literature's questions: every answer against what the oracle knows of lines and columns

SAMPLE = random.Random(7)
ONE_HOT = {
    "census": oracle.CENSUS_ENCODED,
    "credit": [
        "checking",
        "credit_history",
        "purpose",
        "savings",
        "employment",
        "other_debtors",
        "property",
        "other_inst",
        "housing",
        "job",
    ],
}


def columns_behind(name: str, row: dict[str, Any]) -> dict[str, set[str]]:
    """Columns of the source file that each column of a row was computed from, in the same record."""
    special = {"gender": {"personal_status"}} | {c: {"personal_status"} for c in row if c.startswith("status_")}
    if name == "compas":
        special |= {"label": {"two_year_recid"}, "jailtime": {"c_jail_in", "c_jail_out"}}
    kinds = ONE_HOT["census" if source(name).endswith("census.csv") else "credit"]
    kept = {"education_num"} if name not in ("texts", "credit_terms") else {*row}
    encoded = {c: {k} for c in row for k in kinds if c.startswith(f"{k}_") and c not in kept}
    return {c: special.get(c) or encoded.get(c) or {c} for c in row}


@pytest.mark.parametrize("name", ["credit_imputed", "compas", "compas_imputed", "imputed"])
def test_forward_is_backward_turned_round(name: str, folder: Path, prov: Any, expected: Any) -> None:
    """TensProv's Q1 and Q2, Chapman et al.'s PQ2."""
    found = prov.forward(source(name), to=place(folder, name)).table()
    told = list(zip(found["row"].to_pylist(), found["related_row"].to_pylist(), strict=True))
    assert told == [(line, row) for row, (line, _) in enumerate(expected[name])]


@pytest.mark.parametrize("name", ["credit", "credit_imputed", "compas", "texts", "census", "imputed"])
def test_cells_come_of_their_columns_in_their_line(name: str, folder: Path, prov: Any, expected: Any) -> None:
    """TensProv's Q3, Q4; columns are those of every row."""
    rows = SAMPLE.sample(range(len(expected[name])), 3)
    behind = columns_behind(name, expected[name][0][1])
    found = prov.cells(place(folder, name), rows, to=source(name)).table().to_pylist()
    told = {(x["row"], x["column"], x["related_row"], x["related_column"]) for x in found}
    assert told == {(r, c, expected[name][r][0], s) for r in rows for c, made_of in behind.items() for s in made_of}
    columns = prov.columns(place(folder, name), to=source(name), existence=False, kinds="data").table().to_pylist()
    assert {(x["column"], x["related_column"]) for x in columns} == {(c, s) for c, m in behind.items() for s in m}
    column = SAMPLE.choice(sorted({s for made_of in behind.values() for s in made_of}))
    line = expected[name][rows[0]][0]
    ahead = prov.cells(source(name), [line], column, direction="forward", to=place(folder, name)).table().to_pylist()
    assert {(x["related_row"], x["related_column"]) for x in ahead} == {
        (rows[0], c) for c, made_of in behind.items() if column in made_of
    }


def told(operations: Any) -> list[tuple[str, str]]:
    """The output and the beginning of the script's line of each operation."""
    found = []
    for line in operations.to_pylist():
        path, _, number = line["site"].rpartition(":")
        text = Path(path).read_text().splitlines()[int(number) - 1]
        found.append((line["dataset"].rsplit("/", 1)[-1], text.strip()))
    return found


def test_operations_are_the_scripts_lines(folder: Path, prov: Any) -> None:
    """TensProv's Q5 to Q9, Chapman et al.'s PQ1 and PQ3 to PQ6."""
    out, first = place(folder, "census"), str(DATA / "census.csv")
    assert told(prov.operations(out).table()) == [*TEXTS, *ENCODE] == told(prov.how(out, [9]).operations())
    assert told(prov.operations(out, [9]).table()) == [*TEXTS, *ENCODE]
    income = [*TEXTS, ENCODE[0], ENCODE[3]]
    assert (
        told(prov.operations(out, column="income").table())
        == income
        == told(prov.operations(out, [9], "income").table())
    )
    assert told(prov.operations(out, column="race_white").table()) == [*TEXTS, *ENCODE[:2]]
    assert told(prov.operations(out, column="age").table()) == [TEXTS[0], ENCODE[0]]
    imputed = told(prov.operations(place(folder, "imputed"), column="age").table())
    assert [line for name, line in imputed if name == "imputed"] == ["people = spark.read.parquet(source)"]
    ahead = prov.operations(first, [9], "fnlwgt", direction="forward", to=out).table()
    assert set(told(ahead)) <= {TEXTS[0], ENCODE[0], ENCODE[4]}
    lines = told(prov.how(first, [9], direction="forward", to=place(folder, "joined")).operations())
    assert [line for name, line in lines if name == "texts"] == [line for _, line in TEXTS]


@pytest.mark.parametrize(
    ("name", "column", "first", "second", "third"), FEATURES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_operations_of_a_feature_are_those_that_touched_it(
    name: str, column: str, first: Any, second: Any, third: Any, folder: Path, prov: Any
) -> None:
    """Chapman et al.'s PQ4."""
    tasks = READ["Census" if name == "imputed" else "German"]
    wanted = []
    for task, lines in zip(tasks, (first, second, third), strict=True):
        wanted += [READS[task][0], *((task, line if isinstance(line, str) else line[1]) for line in lines)]
    answer = prov.operations(place(folder, name), column=column)
    lines = told(answer.table())
    assert [task for task, _ in lines] == [task for task, _ in wanted]
    assert all(line.startswith(start) for (_, line), (_, start) in zip(lines, wanted, strict=True))
    assert all(line.exact for line in answer.lines) and [line.why for line in answer.lines] == [None] * len(wanted)
    assert all(stop.what == "coarse" and "fit" in stop.why for stop in answer.stops)  # the rows that a fit reads
    every = {(line.step, i) for line in prov.operations(place(folder, name)).lines for i in line.operations}
    assert {(line.step, i) for line in answer.lines for i in line.operations} <= every


@pytest.mark.parametrize(
    ("name", "column", "texts"),
    OF_COMPAS,
)
def test_operations_of_a_feature_of_compas(name: str, column: str, texts: list[str], folder: Path, prov: Any) -> None:
    """Chapman et al.'s PQ4; the filter of incomplete records decides about rows alone."""
    answer = prov.operations(place(folder, name), column=column)
    assert len(answer) == len(texts) and answer.exact
    assert all(line.text.startswith(text) for line, text in zip(answer.lines, texts, strict=True))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("imputed", "capital_gain = CAST(CASE WHEN "),
        (
            "credit_imputed",
            "credit_amount = coalesce(CAST(known AS DOUBLE), avg(known) OVER "
            "(ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)); drop known",
        ),
        ("compas_imputed", "days_b_screening_arrest = coalesce("),
    ],
)
def test_each_pipeline_imputes_once(name: str, text: str, folder: Path, prov: Any) -> None:
    for parts in (False, True):
        lines = prov.operations(place(folder, name), parts=parts).lines
        (imputation,) = (line for line in lines if "imputation" in line.category)
        assert imputation.text.startswith(text if not parts else text.partition(" = ")[0])
        assert not any("_w0" in repr(line) or "_we0" in repr(line) for line in lines)


def test_columns_end_where_the_scripts_drop_them(folder: Path, prov: Any, expected: Any) -> None:
    """Chapman et al.'s PQ7."""
    for first, out in (("texts", "census"), ("credit_terms", "credit"), ("compas_complete", "compas")):
        behind = columns_behind(out, expected[out][0][1])
        gone = {*expected[first][0][1]} - {*expected[out][0][1]}
        found = prov.dropped(place(folder, first)).table().to_pylist()
        lines = {x["column"]: set(x["into"]) for x in found if x["dataset"].endswith(f"/{out}")}
        assert lines == {c: {new for new, made_of in behind.items() if c in made_of} for c in gone}


def test_rows_of_a_join_and_of_one_region(folder: Path, prov: Any, expected: Any) -> None:
    """TensProv's Q10 and Q11."""
    regions = {row["country"]: line for line, row in oracle.lines(DATA / "regions.csv")}
    lookup, out = str(DATA / "regions.csv"), place(folder, "joined")
    for person in SAMPLE.sample(range(len(expected["texts"])), 20):
        met = [x["related_row"] for x in prov.co_contributory(place(folder, "texts"), [person], to=lookup, via=out)]
        country = expected["texts"][person][1]["native_country"]
        assert met == ([regions[country]] if country in regions else [])
    countries = pipelines.table(folder, "joined")["country"].to_pylist()
    for row in (3, *SAMPLE.sample([i for i, c in enumerate(countries) if c != "United-States"], 5)):
        others = prov.co_dependency(out, [row], to=out, via=lookup).table()["related_row"].to_pylist()
        assert others == [i for i, c in enumerate(countries) if c == countries[row] and i != row]


def test_what_steps_did_to_distributions(folder: Path, prov: Any, expected: Any) -> None:
    """Chapman et al.'s PQ12 and PQ13."""
    for before, after, column in (
        ("census", "imputed", "capital_gain"),
        ("credit", "credit_imputed", "credit_amount"),
        ("texts", "census", "hours_per_week"),
    ):
        lines = {x["measure"]: x for x in prov.impact(place(folder, after), column).table().to_pylist()}
        sides = [[row[column] for _, row in expected[name]] for name in (before, after)]
        for measure, of in (("mean", statistics.fmean), ("deviation", statistics.stdev), ("q50", statistics.median)):
            assert [lines[measure]["before"], lines[measure]["after"]] == pytest.approx([of(side) for side in sides])
        assert lines["distinct"]["after"] == len(set(sides[1]))
    shares = {x["value"]: x for x in prov.impact(place(folder, "compas"), "race").shares().to_pylist()}
    races = Counter(row["race"] for _, row in expected["compas_complete"])
    assert {v: x["before"] for v, x in shares.items() if v not in "01"} == pytest.approx(
        {race: n / 6907 for race, n in races.items()}
    )
    assert (shares["1"]["before"], shares["1"]["after"]) == (0, pytest.approx(races["Caucasian"] / 6907))
    whole = prov.impact(place(folder, "census"))
    assert len(whole.after.columns) == 104
    for name, _, profile in whole.pairs():
        values = [row[name] for _, row in expected["census"]] if profile else []
        if profile:
            assert (profile.mean, profile.nulls) == (pytest.approx(statistics.fmean(values)), 0)
    texts = [[row[n] for _, row in expected["texts"]] for n in ("workclass", "occupation", "native_country")]
    assert [whole.before.column(n).nulls for n in ("workclass", "occupation", "native_country")] == [
        side.count(None) for side in texts
    ]


SLOW = re.compile("history|replay|operation_profiles|counts|impact")
PRINTED = [
    pytest.param(pipeline, call, marks=[pytest.mark.long] if SLOW.search(call) else [], id=f"{number}-{pipeline}")
    for question in (*questions.TENSPROV, *questions.CHAPMAN, *questions.INTERMEDIATE)
    for number in [question.name.split()[0].rstrip(",")]
    for pipeline, call in question.calls.items()
    if call
]


@pytest.mark.parametrize(("pipeline", "call"), PRINTED)
def test_a_call_of_the_questions_page_answers_its_definition(pipeline: str, call: str, folder: Path, prov: Any) -> None:
    """Each call of docs/questions.md, as it is printed there, against plain Python."""
    steps = {x["step"]: x["outputs"][0].rsplit("/", 1)[-1] for x in prov.steps().table().to_pylist()}
    answer = eval(call, questions.names(pipeline, prov, folder))
    Check(steps)(call, questions.PLACES[pipeline], answer)


# -- the same by replay: histories, and rows between the operations of a step


def sources_of(line: Any) -> set[tuple[str, int]]:
    return {(s.dataset.rsplit("/", 1)[-1], s.row) for s in line.sources}


def test_records_end_at_the_join_that_has_no_partner(folder: Path, prov: Any, expected: Any) -> None:
    """Chapman et al.'s PQ8, PQ9, and why a country is not in the output."""
    regions = {row["country"] for _, row in oracle.lines(DATA / "regions.csv")}
    alone = [line for line, row in expected["texts"] if row["native_country"] not in regions]
    lost = SAMPLE.choice(alone)
    endings = prov.history(place(folder, "texts"), [lost], direction="forward").endings
    assert [(p.dataset.rsplit("/", 1)[-1], e.cause, e.operation.node) for p, e in endings] == [
        ("joined", "no partner", "Join")
    ]
    assert {s.row for _, e in endings for s in e.sources} == {lost}
    south = [line for line, row in expected["texts"] if row["native_country"] == "South"]
    answer = prov.why_not(place(folder, "joined"), [("country", "=", "South")])
    assert answer.found.count == 0
    (missed,) = (m for m in answer.missed if m.dataset.endswith("texts"))
    assert missed.rows.rows().tolist() == south
    assert {e.cause for e in missed.endings} == {"no partner"}


def test_values_after_each_operation(folder: Path, prov: Any, expected: Any) -> None:
    """Chapman et al.'s PQ10; TensProv's Q1 to Q8 on intermediate rows."""
    (line, lacking) = SAMPLE.choice([x for x in expected["texts"] if x[1]["occupation"] is None])
    raw = list(oracle.lines(DATA / "census.csv")[line][1].values())
    replayed = prov.replay(place(folder, "texts"), [line])
    assert replayed.verified is True
    as_read, trimmed, done = ([dict(zip(s.columns, x.values, strict=True)) for x in s.lines] for s in replayed.stages)
    whole = dict(zip(oracle.CENSUS, raw, strict=True))
    assert {k: str(v) for k, v in as_read[0].items()} == whole
    assert {k: str(v) for k, v in trimmed[0].items()} == {k: v.strip(" ") for k, v in whole.items()}
    assert done == [lacking]
    assert [set(s.lines[0].changed) for s in replayed.stages[1:]] == [
        set(oracle.CENSUS_TEXTS),
        {c for c in oracle.CENSUS_TEXTS if lacking[c] is None},
    ]
    assert {s for stage in replayed.stages for x in stage.lines for s in sources_of(x)} == {("census.csv", line)}


def test_rows_that_met_in_the_join(folder: Path, prov: Any) -> None:
    """TensProv's Q10 on intermediate rows."""
    out = place(folder, "joined")
    (person,) = prov.backward(out, [3], to=place(folder, "texts")).table()["related_row"].to_pylist()
    (region,) = prov.backward(out, [3], to=str(DATA / "regions.csv")).table()["related_row"].to_pylist()
    (join,) = (s for s in prov.replay(out, [3]).stages if s.operation.node == "Join")
    assert [sources_of(x) for x in join.lines] == [{("texts", person), ("regions.csv", region)}]


@pytest.mark.long
def test_rows_of_one_partner(folder: Path, prov: Any, expected: Any) -> None:
    """TensProv's Q11 on intermediate rows."""
    rows = oracle.lines(DATA / "regions.csv")
    line, country = SAMPLE.choice([(i, row["country"]) for i, row in rows if row["country"] != "United-States"])
    people = {i for i, row in expected["texts"] if row["native_country"] == country}
    step = next(x["step"] for x in prov.steps().table().to_pylist() if x["task_id"] == "joined")
    replayed = prov.replay(str(DATA / "regions.csv"), [line], step=step, all_sources=True)
    (join,) = (s for s in replayed.stages if s.operation.node == "Join")
    assert sorted(min(i for n, i in sources_of(x) if n == "texts") for x in join.lines) == sorted(people)


@pytest.mark.long
def test_histories_are_verified_and_whole(folder: Path, prov: Any, expected: Any) -> None:
    """Chapman et al.'s PQ8 and PQ11: each write that rows came through or went into, and where incomplete ones end."""
    for name, tasks in (
        ("credit_imputed", ["credit_terms", "credit", "credit_imputed"]),
        ("imputed", ["texts", "census", "imputed"]),
        ("compas", ["compas_complete", "compas"]),
    ):
        row = SAMPLE.randrange(len(expected[name]))
        history = prov.history(place(folder, name), [row])
        assert [p.dataset.rsplit("/", 1)[-1] for p in history.passages] == tasks
        assert [p.replayed.verified for p in history.passages] == [True] * len(tasks)
        last = history.passages[-1].replayed.stages[-1]
        values = dict(zip(last.columns, last.lines[0].values, strict=True))
        for column, value in expected[name][row][1].items():
            assert values[column] == (pytest.approx(value) if isinstance(value, float) else value)
    complete = {line for line, _ in expected["compas_complete"]}
    for line in SAMPLE.sample([i for i in range(7214) if i not in complete], 3):
        history = prov.history(str(DATA / "compas.csv"), [line], direction="forward")
        ended = [(p.dataset.rsplit("/", 1)[-1], e.cause) for p, e in history.endings]
        assert ended == [("compas_complete", "condition")]


@pytest.mark.long
def test_every_row_between_operations_counts(prov: Any) -> None:
    """TensProv's Q9 on intermediate rows: operations with their rows in and out."""
    steps = {x["task_id"]: x["step"] for x in prov.steps().table().to_pylist()}
    for task, rows in (("compas_complete", [7214, 7214, 6907]), ("texts", [32561] * 3)):
        assert prov.counts(steps[task]).table()["rows_out"].to_pylist() == rows


@pytest.mark.long
@pytest.mark.parametrize("name", ["compas_complete", "compas", "credit", "texts"])
def test_profiles_between_operations_are_of_the_scripts_own_frames(
    name: str, folder: Path, prov: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PQ12 and PQ13 operation by operation: the frames that the script makes when it runs without capture."""
    frames = []

    def noted(owner: Any, method: str) -> None:
        real = getattr(owner, method)

        def note(*args: Any, **kwargs: Any) -> Any:
            frames.append(real(*args, **kwargs))
            return frames[-1]

        monkeypatch.setattr(owner, method, note)

    for method in ("select", "withColumn", "withColumns", "drop", "dropna", "replace"):
        noted(DataFrame, method)
    for method in ("csv", "parquet"):
        noted(DataFrameReader, method)
    (task,) = (t for t in TASKS if t.output == name)
    for made in task.inputs:
        if not made.endswith(".csv"):
            (tmp_path / made).symlink_to(folder / made)
    pipelines.run(tmp_path, (task,), None)
    monkeypatch.undo()
    told = prov.operation_profiles(place(folder, name))
    assert told.verified is True and len(frames) == len(told.operations)
    for operation, frame in zip(told.operations, frames, strict=True):
        profiles.check(told.after(operation.index), [row.asDict() for row in frame.collect()])
