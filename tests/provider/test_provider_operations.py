"""Questions of operations, columns and cells over a pipeline whose answers are plain to see."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from _people import people
from _steps import publish

import provspark
from provspark.api import stops_of
from provspark.errors import AmbiguousStepError, ConditionError, UnknownColumnError, UnknownDatasetError
from provspark.index_store.store.store import Store


@pytest.fixture
def prov(tmp_path: Path) -> provspark.Provenance:
    return provspark.open(people(tmp_path))


def lines(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(x[n] for n in names) for x in table.to_pylist()]


LINE = ("column", "related_column", "kind", "dependence", "exact")


def test_columns_of_a_report(prov: provspark.Provenance, tmp_path: Path) -> None:
    report, source = tmp_path / "report.csv", tmp_path / "people.csv"
    table = prov.columns(str(report)).table()
    assert lines(table, *LINE) == [
        (None, "age", "data", "filter", True),
        (None, "city", "data", "group by", True),
        ("city", "city", "data", "identity", True),
        ("first", "name", "data", "aggregation", True),
        ("n", None, "data", "aggregation", True),
        ("n", "age", "data", "filter", True),
    ]
    assert set(table["dataset"].to_pylist()) == {f"file://{source}"}
    steps = {x["column"]: [s.split("-")[1] for s in x["steps"]] for x in table.to_pylist()}
    assert steps["city"] == ["clean", "report"]
    ahead = prov.columns(str(source), "age", direction="forward", to=str(report)).table()
    assert lines(ahead, *LINE) == [
        ("age", None, "data", "filter", True),
        ("age", "n", "data", "filter", True),
    ]


def test_a_beginning_of_several_steps_names_them(
    prov: provspark.Provenance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = sorted(s["step"] for s in prov.steps())
    with pytest.raises(AmbiguousStepError) as raised:
        prov.operations("people-")
    assert raised.value.matches == tuple(steps)
    assert str(raised.value) == f"Step prefix 'people-' matches 3 steps: {', '.join(steps)}. Pass more of the id."
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.matches) == (str(raised.value), raised.value.matches)
    many = AmbiguousStepError("s", [f"s{n:02}" for n in range(25)])
    assert "matches 25 steps: s00, " in str(many) and "s19 and 5 more. Pass" in str(many)
    with pytest.raises(UnknownDatasetError):
        prov.operations("nothing")
    # The name of a dataset comes before the beginning of an id, also as a relative path.
    monkeypatch.chdir(tmp_path)
    assert prov.operations("report.csv") == prov.operations(str(tmp_path / "report.csv"))


def test_a_step_without_writes_has_no_operations(prov: provspark.Provenance, tmp_path: Path) -> None:
    manifest = publish(Store.open(str(tmp_path / "prov")), "idle")
    assert not len(provspark.open(tmp_path / "prov").operations(manifest.step))


def test_a_case_makes_a_superset_that_says_why(prov: provspark.Provenance, tmp_path: Path) -> None:
    cells = prov.cells(str(tmp_path / "clean.csv"), where=[("name", "=", "Cy")], columns=["BAND"]).table()
    assert lines(cells, "row", "column", "related_row", "related_column", "dependence", "exact", "why") == [
        (1, "band", 2, "age", "conditional", True, None),
        (1, "band", 2, "name", "transformation", False, "band = case when age < 40 … (/app/clean.py:5)"),
    ]
    ahead = prov.cells(
        str(tmp_path / "people.csv"), [3], "name", direction="forward", to=str(tmp_path / "report.csv")
    ).table()
    assert lines(ahead, "related_row", "related_column", "dependence") == [(0, "first", "aggregation")]
    counted = prov.cells(str(tmp_path / "report.csv"), [1], "n").table()
    assert lines(counted, "related_row", "related_column", "dependence") == [
        (row, *source) for row in (0, 2) for source in ((None, "aggregation"), ("age", "filter"))
    ]


def test_operations_of_a_script_line_read_as_one(prov: provspark.Provenance, tmp_path: Path) -> None:
    report = str(tmp_path / "report.csv")
    told = prov.operations(report).table().to_pylist()
    assert [x["text"] for x in told] == [
        "read people.csv",
        "filter age is not null",
        "band = case when age < 40 …; drop age",
        "read clean.csv",
        "group by city: n = count(1), first = min(name)",
    ]
    composite = told[2]
    assert (composite["operations"], composite["makes"], composite["drops"]) == ([2, 3], ["band"], ["age"])
    assert (composite["columns_in"], composite["columns_out"]) == (["name", "city", "age"], ["name", "city", "band"])
    assert (composite["rows_in"], composite["rows_out"], composite["site"]) == (3, 3, "/app/clean.py:5")
    assert composite["category"] == ["added column", "dropped column"]
    assert composite["paper_categories"] == composite["categories"] == ["vertical augmentation", "vertical reduction"]
    assert [x["category"] for x in told] == [["read"], ["filter"], composite["category"], ["read"], ["aggregate"]]
    assert (told[4]["name"], told[4]["contextual"], told[4]["rows_out"]) == ("counted", True, 2)
    assert [x["operations"] for x in prov.operations(report, parts=True).table().to_pylist()] == [
        [0],
        [1],
        [2],
        [3],
        [0],
        [1],
    ]
    step = told[0]["step"]
    assert prov.operations(step).table().to_pylist() == told[:3]
    assert prov.operations(step[:12]).table().to_pylist() == told[:3]
    assert [x["text"] for x in prov.operations(report, column="city").table().to_pylist()] == [
        "read people.csv",
        "read clean.csv",
    ]
    touched = prov.operations(report, column="first").table().to_pylist()
    assert [x["operations"] for x in touched] == [[0], [0], [1]]
    counted = prov.operations(report, column="n").table().to_pylist()
    assert [x["operations"] for x in counted] == [[0], [1], [0], [1]]  # neither the band nor what dropped the age
    item = prov.operations(str(tmp_path / "clean.csv"), [0], column="band").table().to_pylist()
    assert [x["operations"] for x in item] == [[0], [2]]


def test_how_tells_the_operations_on_the_way(prov: provspark.Provenance, tmp_path: Path) -> None:
    how = prov.how(str(tmp_path / "report.csv"), [1])
    assert lines(how.table(), "row", "related_row", "kind", "path") == [(1, 0, "data", 0), (1, 2, "data", 0)]
    told = lines(how.operations(parts=True), "path", "step", "operations")
    assert [(p, s.split("-")[1], n) for p, s, n in told] == [
        *((0, "clean", [n]) for n in range(4)),
        *((0, "report", [n]) for n in range(2)),
    ]
    ahead = prov.how(str(tmp_path / "people.csv"), [3], direction="forward", to=str(tmp_path / "clean.csv"))
    assert lines(ahead.table(), "related_row", "path") == [(2, 0)]
    assert lines(ahead.operations(), "operations") == [([0],), ([1],), ([2, 3],)]


def test_how_of_cells_tells_values_operations_and_paths(prov: provspark.Provenance, tmp_path: Path) -> None:
    people = f"file://{tmp_path / 'people.csv'}"
    how = prov.how(str(tmp_path / "clean.csv"), [1], ["band", "city"], parts=True)
    assert lines(
        how.values().table(), "row", "column", "dataset", "related_row", "related_column", "value", "path"
    ) == [
        (1, "band", people, 2, "age", "50", 0),
        (1, "band", people, 2, "name", "Cy", 1),
        (1, "city", people, 2, "city", "Rome", 2),
    ]
    assert how.columns == (("band", "age"), ("band", "name"), ("city", "city"))
    assert lines(how.operations(), "path", "operations") == [(0, [0]), (0, [2]), (1, [0]), (1, [2]), (2, [0])]
    whole = prov.cells(str(tmp_path / "clean.csv"), [1], ["band", "city"]).table()
    assert how.table().drop_columns(["path"]).equals(whole)
    assert how.answer.table().equals(prov.backward(str(tmp_path / "clean.csv"), [1]).table())
    counted = prov.how(str(tmp_path / "report.csv"), [1], "n")
    assert lines(counted.values().table(), "related_row", "related_column", "dependence", "value") == [
        (0, None, "aggregation", None),
        (0, "age", "filter", "36"),
        (2, None, "aggregation", None),
        (2, "age", "filter", "50"),
    ]
    ahead = prov.how(str(tmp_path / "people.csv"), [3], "name", direction="forward", to=str(tmp_path / "report.csv"))
    assert lines(ahead.values().table(), "row", "related_row", "related_column", "value") == [(3, 0, "first", "Dee")]
    told = lines(ahead.operations(), "step", "operations")
    assert [(s.split("-")[1], n) for s, n in told] == [("clean", [0]), ("report", [0]), ("report", [1])]


def test_how_tells_each_operation_alone_where_the_question_or_the_method_says_so(
    prov: provspark.Provenance, tmp_path: Path
) -> None:
    report = str(tmp_path / "report.csv")
    alone, together = prov.how(report, [1], parts=True), prov.how(report, [1])
    assert alone.operations().equals(together.operations(parts=True))
    assert alone.operations(parts=False).equals(together.operations())
    assert len(alone.all_operations()) == len(alone.lines()) == 6 and len(together.lines()) == 5
    assert alone.values().table().equals(prov.backward(report, [1]).values().table())


def test_how_of_a_column_that_is_not_there_says_so(prov: provspark.Provenance, tmp_path: Path) -> None:
    report = str(tmp_path / "report.csv")
    with pytest.raises(UnknownColumnError, match="dropped on the way by drop age"):
        prov.how(report, [0], "age")
    with pytest.raises(ConditionError, match="how does not follow edges of kind 'possible'"):
        prov.how(report, [0], "n", kinds="possible")


def test_a_dropped_column_tells_by_what(prov: provspark.Provenance, tmp_path: Path) -> None:
    drops = prov.dropped(str(tmp_path / "people.csv")).table()
    assert lines(drops, "column", "operation", "known_as", "text", "into") == [
        ("age", 3, "age", "drop age", ["band"]),
        ("name", 1, "name", "group by city: n = count(1), first = min(name)", ["first"]),
    ]
    with pytest.raises(
        UnknownColumnError, match=r"dropped on the way by drop age \(/app/clean.py:5\) of step people-clean"
    ):
        prov.cells(str(tmp_path / "report.csv"), [0], "age").table()
    with pytest.raises(UnknownColumnError, match="did you mean first"):
        prov.columns(str(tmp_path / "report.csv"), "frist").table()


def test_a_step_without_operations_is_answered_as_far_as_can_be(prov: provspark.Provenance, tmp_path: Path) -> None:
    copy, report = str(tmp_path / "copy.csv"), str(tmp_path / "report.csv")
    table = prov.columns(copy, "city", to=report, existence=False).table()
    assert lines(table, *LINE) == [("city", n, "data", "transformation", False) for n in ("city", "first", "n")]
    assert [(s.what, s.step.split("-")[1]) for s in stops_of(table)] == [("columns", "copy")]
    cells = prov.cells(copy, [0], "city", to=report).table()
    assert set(cells["why"].to_pylist()) == {
        prov.steps().table()["step"].to_pylist()[2].join(("step ", " kept no operations"))
    }
    assert prov.backward(copy, [0]).table().equals(prov.how(copy, [0]).table().drop_columns(["path"]))
    assert prov.operations(prov.steps().table()["step"].to_pylist()[2]).table().num_rows == 0


def test_questions_that_make_no_sense_say_so(prov: provspark.Provenance, tmp_path: Path) -> None:
    with pytest.raises(ConditionError, match="Use cells"):
        prov.columns(str(tmp_path / "report.csv"), where=[("n", "=", 1)]).table()
    with pytest.raises(ConditionError, match=r"direction must be .* found 'sideways'"):
        prov.how(str(tmp_path / "report.csv"), direction="sideways")  # type: ignore[arg-type]
    with pytest.raises(UnknownDatasetError, match="provspark ls"):
        prov.operations("/nowhere").table()
    with pytest.raises(ConditionError, match="is a step"):
        prov.operations(prov.steps().table()["step"][0].as_py(), [1]).table()


def test_cells_as_prov_json_are_read_back_by_the_prov_package(prov: provspark.Provenance, tmp_path: Path) -> None:
    model = pytest.importorskip("prov.model")
    around = prov.cell_neighbourhood(str(tmp_path / "report.csv"), [1], ["first", "n"])
    document = model.ProvDocument.deserialize(content=json.dumps(around.prov_json()), format="json")

    def ends(sort: Any) -> set[tuple[str, ...]]:
        records = [[str(v) for _, v in r.formal_attributes if v is not None] for r in document.get_records(sort)]
        return {tuple(v.split("/", 2)[-1] for v in r[:2] if v.startswith("ps:cell/")) for r in records}

    assert {pair for pair in ends(model.ProvDerivation) if len(pair) == 2} == {
        *(("1/first", f"{row}/name") for row in (0, 1)),
        *((f"{out}/name", f"{src}/name") for out, src in ((0, 0), (1, 2))),
    }
    counted = [r for r in document.get_records(model.ProvDerivation) if str(r.formal_attributes[0][1]).endswith("/n")]
    assert {str(r.formal_attributes[1][1]).rsplit("/", 1)[1] for r in counted} == {"0", "1"}
    known = {str(e.identifier) for e in document.get_records((model.ProvEntity, model.ProvActivity))}
    for relation in document.get_records(model.ProvRelation):
        for name, value in relation.formal_attributes:
            assert value is None or name.localpart == "time" or str(value) in known, relation
    whole = prov.cell_neighbourhood(str(tmp_path / "people.csv"), [2], "name", "forward")
    assert {(e.cell.column, e.dependence, e.exact) for e in whole.edges} >= {
        ("band", "transformation", False),
        ("first", "aggregation", True),
        ("name", "identity", True),
    }
    with pytest.raises(ConditionError, match="larger limit"):
        prov.cell_neighbourhood(str(tmp_path / "people.csv"), direction="forward", limit=8)


def test_operations_as_activities_are_read_back_by_the_prov_package(prov: provspark.Provenance, tmp_path: Path) -> None:
    model = pytest.importorskip("prov.model")
    near = prov.neighbourhood(str(tmp_path / "people.csv"), direction="forward", kinds=("data", "context"))
    document = model.ProvDocument.deserialize(content=json.dumps(near.prov_json()), format="json")

    def short(name: Any) -> str:
        kind, step, *rest = str(name).removeprefix("ps:").split("/")
        return "/".join([kind, step.split("-")[1], *rest]) if kind in ("operation", "composite", "write") else kind

    def pairs(sort: Any) -> set[tuple[str, str]]:
        records = (r.formal_attributes for r in document.get_records(sort))
        return {(short(a[0][1]), short(a[1][1])) for a in records}

    whole, about = {}, {}
    for record in document.get_records(model.ProvActivity):
        said = {name.localpart: value for name, value in record.extra_attributes}
        about[short(record.identifier)] = said
        if "isPartOf" in said:
            whole[short(record.identifier)] = short(said["isPartOf"])
    assert {k: v for k, v in whole.items() if "clean" in k} == {
        "operation/clean/0/0": "write/clean/0",
        "operation/clean/0/1": "write/clean/0",
        "composite/clean/0/2": "write/clean/0",
        "operation/clean/0/2": "composite/clean/0/2",
        "operation/clean/0/3": "composite/clean/0/2",
    }
    assert about["composite/clean/0/2"]["text"] == "band = case when age < 40 …; drop age"
    assert str(about["composite/clean/0/2"]["type"]) == "ps:Composite"
    assert {p for p in pairs(model.ProvCommunication) if "clean" in p[0]} == {
        (f"operation/clean/0/{n}", f"operation/clean/0/{n - 1}") for n in (1, 2, 3)
    }
    assert {a for a, _ in pairs(model.ProvUsage)} >= {"operation/clean/0/0", "operation/report/0/0", "write/clean/0"}
    assert {a for _, a in pairs(model.ProvGeneration)} >= {"operation/clean/0/3", "operation/report/0/1"}
    assert {a for _, a in pairs(model.ProvInvalidation)} == {"write/clean/0", "operation/clean/0/1"}
    cells = prov.cell_neighbourhood(str(tmp_path / "clean.csv"), [1], ["band", "name"]).prov_json()
    made = {
        (v["prov:entity"].rsplit("/", 1)[-1], short(v["prov:activity"]))
        for v in cells["wasGeneratedBy"].values()
        if v["prov:entity"].startswith("ps:cell/")
    }
    assert made == {
        *(("band", a) for a in ("write/clean/0", "operation/clean/0/2")),
        *(("name", a) for a in ("write/clean/0", "operation/clean/0/0")),
    }
    known = {str(e.identifier) for e in document.get_records((model.ProvEntity, model.ProvActivity))}
    for relation in document.get_records(model.ProvRelation):
        for name, value in relation.formal_attributes:
            assert value is None or name.localpart == "time" or str(value) in known, relation
    plain = near.prov_json(operations=False)
    assert {k.split("/")[0] for k in plain["activity"]} == {"ps:write"} and "wasInformedBy" not in plain
    for sort, records in plain.items():
        assert records.items() <= near.prov_json()[sort].items()


def test_a_store_of_format_1_is_answered_as_far_as_can_be() -> None:
    store = Path(__file__).parents[1] / "index_store" / "fixtures" / "format-1" / "store"
    prov = provspark.open(str(store)).restricted(lambda m: m.key.task_id == "again")
    table = prov.columns("/data/out", "x", to="/data/in").table()
    assert {x["related_column"] for x in table.to_pylist()} == {"x", "day"}
    assert not any(table["exact"].to_pylist())
    assert "columns" in {s.what for s in stops_of(table)}
    assert prov.operations("/data/out").table().num_rows == 0
    how = prov.how("/data/out", [0], to="/data/in").table()
    assert how.drop_columns(["path"]).equals(prov.backward("/data/out", [0], to="/data/in").table())


def test_impact_over_several_steps_follows_the_columns(prov: provspark.Provenance, tmp_path: Path) -> None:
    people, clean, report = (str(tmp_path / f"{name}.csv") for name in ("people", "clean", "report"))
    city = prov.impact(report, "CITY", source=people)
    assert (city.before.dataset, city.after.dataset, city.was) == (
        f"file://{people}",
        f"file://{report}",
        {"city": "city"},
    )
    told = {x["measure"]: (x["before"], x["after"]) for x in city.table().to_pylist()}
    assert (told["rows"], told["nulls"], told["distinct"]) == ((5, 2), (1, 0), (2, 2))
    whole = prov.impact(report, source=people)
    assert [(n, b and b.name, a and a.name) for n, b, a in whole.pairs()] == [
        ("city", "city", "city"),
        ("n", None, "n"),
        ("first", None, "first"),  # the least of many names is none that was there before
        ("name", "name", None),
        ("age", "age", None),
    ]
    assert prov.impact(report, source=people, was={"n": "age", "first": "city"}).was == {"n": "age", "first": "city"}
    # A band is made of a name, which is still there, or of nothing.
    assert prov.impact(clean).was == prov.impact(clean, "band").was == {}
    assert prov.impact(clean, "band").before.columns == ()
    assert prov.impact(str(tmp_path / "copy.csv"), source=people).was == {}  # one step kept no operations
    with pytest.raises(UnknownDatasetError, match="nowhere"):
        prov.impact(report, "first", source="/nowhere")
    with pytest.raises(UnknownDatasetError, match="report"):
        prov.impact(clean, "city", source=report)
    with pytest.raises(UnknownColumnError, match="frist"):
        prov.impact(report, "frist", source=people)


@pytest.mark.parametrize("rows", [None, [0]])
def test_forward_what_a_column_went_into_counts_though_it_is_dropped_later(tmp_path: Path, rows: Any) -> None:
    """`band` is made of the age, and the report leaves it out; the filter by age decides how many rows it counts."""
    prov = provspark.open(people(tmp_path))

    source = str(tmp_path / "people.csv")

    def told(**more: Any) -> list[tuple[str, tuple[int, ...]]]:
        lines = prov.operations(source, rows, "age", direction="forward", parts=True, **more).lines
        return [(line.step.split("-")[1], line.operations) for line in lines if line.exact]

    clean = [("clean", (0,)), ("clean", (2,))]
    counted = [("clean", (0,)), ("clean", (1,)), ("report", (0,)), ("report", (1,))]
    assert told(to=str(tmp_path / "clean.csv")) == clean
    assert told(to=str(tmp_path / "report.csv")) == counted
    assert told() == sorted({*clean, *counted})
