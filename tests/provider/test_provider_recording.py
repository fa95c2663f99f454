"""Steps that nobody captured, recorded by hand, and asked about with those that were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provspark
from provspark import Data, Relation
from provspark.errors import (
    InvalidWriteError,
    RowOutOfRangeError,
    StepExistsError,
    UnknownColumnError,
    UnknownDatasetError,
    UnknownVersionError,
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """A CSV of five lines, Parquet in partitions of 2 and 3 rows, a JSON file of 4 lines."""
    (tmp_path / "in.csv").write_text("name,age\n" + "".join(f"n{i},{i}\n" for i in range(5)))
    for part, n in (("p=a", 2), ("p=b", 3)):
        (tmp_path / "out" / part).mkdir(parents=True)
        pq.write_table(pa.table({"x": range(n)}), tmp_path / "out" / part / "f.parquet")
    (tmp_path / "out" / "_SUCCESS").touch()
    (tmp_path / "report.json").write_text('{"n": 1}\n' * 4)
    return {name: str(tmp_path / name) for name in ("in.csv", "out", "report.json", "prov")}


def csv(places: dict[str, str]) -> Data:
    return Data(places["in.csv"], options={"header": "true"}, columns=[("name", "string"), ("age", "int")])


PAIRS = {(0, 4), (1, 3), (2, 2), (3, 1), (4, 0), (4, 4)}


@pytest.mark.parametrize("form", ["pairs", "boxes", "rows"])
def test_pairs_boxes_and_callables_say_the_same(places: dict[str, str], form: str) -> None:
    asked: list[Any] = []

    def rows(wanted: np.ndarray[Any, Any]) -> Any:
        asked.extend(wanted.tolist())
        return zip(*[p for p in sorted(PAIRS) if p[0] in wanted], strict=True)

    given = {
        "pairs": {"pairs": tuple(zip(*sorted(PAIRS), strict=True))},
        "boxes": {"boxes": [(o, 1, s, 1, o % 2 == 0) for o, s in PAIRS]},
        "rows": {"rows": rows},
    }[form]
    manifest = provspark.record(
        places["prov"], task="t", output=places["out"], relations=[Relation(csv(places), **given)]
    )
    assert manifest.writes[0].output.rows == 5
    assert manifest.writes[0].inputs[0].rows == 5
    prov = provspark.open(places["prov"])
    table = prov.backward(places["out"]).table()
    assert {(x["row"], x["related_row"]) for x in table.to_pylist()} == PAIRS
    assert prov.select(places["out"], where=[("x", ">", 0), ("p", "=", "b")]).rows().tolist() == [3, 4]
    assert sorted(asked) == (list(range(5)) if form == "rows" else [])


def test_recorded_steps_link_to_one_another(places: dict[str, str]) -> None:
    first = Relation(csv(places), boxes=[(0, 5, 0, 5, True)])
    provspark.record(places["prov"], task="a", output=places["out"], relations=[first], run="r")
    more = [
        Relation(places["out"], pairs=([0, 1], [1, 4])),
        Relation(places["in.csv"], pairs=([0], [3]), kind="context"),
    ]
    provspark.record(places["prov"], task="b", output=places["report.json"], relations=more, run="r")
    prov = provspark.open(places["prov"])
    both = prov.backward(places["report.json"], kinds=("data", "context")).table().to_pylist()
    assert {(x["row"], x["related_row"], x["occurrence"], x["kind"]) for x in both} == {
        (0, 1, 0, "data"),
        (1, 4, 0, "data"),
        (0, 3, 1, "context"),
    }
    assert prov.values(places["in.csv"], where=[("age", ">", 2)]).table()["name"].to_pylist() == ["n3", "n4"]
    with pytest.raises(StepExistsError):
        provspark.record(places["prov"], task="b", output=csv(places), relations=[], run="r")
    with pytest.raises(InvalidWriteError, match=r"every file of .* was made by step a-"):
        provspark.record(places["prov"], task="c", output=places["out"], relations=[first])


@pytest.mark.parametrize(
    ("relation", "error", "message"),
    [
        ({"pairs": ([5], [0])}, RowOutOfRangeError, "row 5 of .*out does not exist"),
        ({"pairs": ([0], [5])}, RowOutOfRangeError, "row 5 of .*in.csv does not exist"),
        ({"pairs": ([-1], [0])}, RowOutOfRangeError, "row -1"),
        ({"boxes": [(3, 3, 0, 1, False)]}, RowOutOfRangeError, "row 5 of .*out"),
        ({"boxes": [(0, 2, 0, 3, True)]}, InvalidWriteError, "must be square"),
        ({"pairs": ([0, 1], [0])}, InvalidWriteError, "of equal length"),
        ({"pairs": ([0.5], [0])}, InvalidWriteError, "two integer arrays"),
        ({"pairs": 3}, InvalidWriteError, "two arrays"),
        ({"rows": lambda rows: (rows, rows + 3)}, RowOutOfRangeError, "row 7 of .*in.csv"),
        ({"rows": lambda rows: ([4], [0])}, InvalidWriteError, "asked for output rows 0 to 1, .* rows 4 to 4"),
        ({"pairs": (np.array([2**63], dtype=np.uint64), [0])}, RowOutOfRangeError, "row 9223372036854775808 of"),
        ({"boxes": [(2, 2**63 - 1, 0, 1, False)]}, InvalidWriteError, "reaches from 2 over 9223372036854775807 rows"),
        ({"boxes": [(0, 2**70, 0, 1, False)]}, InvalidWriteError, "four integers"),
        ({"boxes": [(0.5, 1, 0, 1, False)]}, InvalidWriteError, "four integers"),
        ({"boxes": [(0, 1, 0, 1)]}, InvalidWriteError, "four integers"),
        ({"boxes": [(0, -1, 0, 1, False)]}, InvalidWriteError, "over -1 rows"),
        ({"pairs": ([0], [0]), "kind": "other"}, InvalidWriteError, "'other'; pass one of data, context, possible"),
        ({"cells": lambda rows: None}, InvalidWriteError, "four lists"),
        ({"cells": lambda rows: ([0], ["x"], [0])}, InvalidWriteError, "four lists"),
        ({}, InvalidWriteError, "has nothing"),
        ({"pairs": ([0], [0]), "boxes": []}, InvalidWriteError, "has pairs and boxes"),
    ],
)
def test_relations_that_do_not_fit(
    places: dict[str, str], relation: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        provspark.record(places["prov"], task="t", output=places["out"], relations=[Relation(csv(places), **relation)])
    assert provspark.open(places["prov"]).steps().table().num_rows == 0


def test_boxes_may_overlap_and_pairs_repeat(places: dict[str, str]) -> None:
    boxes = [(0, 3, 0, 3, True), (1, 2, 0, 3, False), (0, 5, 2, 1, False), (0, 0, 0, 0, False)]
    expected = {(o, o) for o in range(3)} | {(o, s) for o in (1, 2) for s in range(3)} | {(o, 2) for o in range(5)}
    twice = ([0, 0, 1], [4, 4, 4])
    relations = [Relation(csv(places), boxes=boxes), Relation(csv(places), pairs=twice)]
    manifest = provspark.record(places["prov"], task="t", output=places["out"], relations=relations)
    assert [t.edges for t in manifest.writes[0].tensors] == [len(expected), 2]
    found = provspark.open(places["prov"]).backward(places["out"]).table()
    told = [(x["occurrence"], x["row"], x["related_row"]) for x in found.to_pylist()]
    assert sorted(told) == sorted({(0, *p) for p in expected} | {(1, 0, 4), (1, 1, 4)})


def test_data_sets_without_rows_or_with_names_of_any_length(places: dict[str, str], tmp_path: Path) -> None:
    empty, far = tmp_path / "empty", tmp_path.joinpath(*["é 100% ☃" * 15] * 6)
    for folder, n in ((empty, 0), (far, 2)):
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"x": pa.array(range(n), pa.int64())}), folder / "f.parquet")
    assert len(str(far).encode()) > 1000
    provspark.record(places["prov"], task="a", output=str(empty), relations=[Relation(csv(places), pairs=([], []))])
    more = [Relation(str(empty), pairs=([], [])), Relation(csv(places), pairs=([1], [4]))]
    provspark.record(places["prov"], task="b", output=str(far), relations=more)
    prov = provspark.open(places["prov"])
    assert [x["related_row"] for x in prov.backward(str(far)).table().to_pylist()] == [4]
    assert prov.backward(str(empty)).table().num_rows == prov.forward(str(empty)).table().num_rows == 0
    assert prov.correspondence(str(far), to=str(empty)).edges == 0
    with pytest.raises(RowOutOfRangeError, match="it is empty"):
        prov.backward(str(empty), rows=[0]).table()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"task": "\ud800"}, "printable text"),
        ({"task": 5}, "printable text"),
        ({"dag": "a\nb"}, "printable text"),
        ({"try_number": 1.5}, "must be an integer"),
        ({"try_number": True}, "must be an integer"),
        ({"written": "f.parquet"}, "one or more; found 'f.parquet'"),
        ({"written": []}, "one or more"),
    ],
)
def test_steps_that_are_named_oddly(places: dict[str, str], named: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidWriteError, match=message):
        provspark.record(places["prov"], **{"task": "t", "output": places["out"], "relations": [], **named})


def test_a_step_does_not_read_the_files_that_it_made(places: dict[str, str]) -> None:
    relation = Relation(places["out"], pairs=([3], [0]))
    with pytest.raises(InvalidWriteError, match="is read by the step that made it"):
        provspark.record(places["prov"], task="t", output=places["out"], relations=[relation])
    part = Path(places["out"], "p=a")
    relation = Relation(str(part), pairs=([3], [1]))
    provspark.record(
        places["prov"], task="t", output=places["out"], relations=[relation], written=["p=b/f.parquet"], run="r"
    )
    table = provspark.open(places["prov"]).backward(places["out"], to=str(part)).table().to_pylist()
    assert [(x["row"], x["related_row"]) for x in table] == [(3, 1)]


def test_files_that_a_step_made(places: dict[str, str]) -> None:
    def record(task: str, pairs: Any, *written: str) -> None:
        relation = Relation(csv(places), pairs=pairs)
        provspark.record(places["prov"], task=task, output=places["out"], relations=[relation], written=written)

    with pytest.raises(InvalidWriteError, match=r"rows 2 to 4 .*p=b/f.parquet'? that this step did not make"):
        record("a", ([0, 2], [0, 0]), "p=a/f.parquet")
    with pytest.raises(InvalidWriteError, match=r"has no file .f\.parquet"):
        record("a", ([0], [0]), "f.parquet")
    record("a", ([0], [0]), "p=a/f.parquet")
    record("b", ([3], [1]), "p=b/f.parquet")
    with pytest.raises(InvalidWriteError, match=r"file .p=a/f.parquet' of .* was made by step a-"):
        record("c", ([0], [0]), "p=a/f.parquet")
    prov = provspark.open(places["prov"])
    table = prov.backward(places["out"], to=places["in.csv"]).table()
    assert [(x["row"], x["related_row"]) for x in table.to_pylist()] == [(0, 0), (3, 1)]
    with pytest.raises(InvalidWriteError, match="no data file"):
        provspark.record(places["prov"], task="d", output="/nowhere", relations=[])
    with pytest.raises(InvalidWriteError, match=r"the format of .* can't be determined from the name"):
        Path(places["prov"], "../odd").touch()
        provspark.record(places["prov"], task="d", output=str(Path(places["prov"]).parent / "odd"), relations=[])


REPORT = [("n", "int"), ("who", "string")]


def told(table: pa.Table) -> set[tuple[Any, ...]]:
    names = ("row", "column", "related_row", "related_column", "dependence", "exact")
    return {tuple(x[n] for n in names) for x in table.to_pylist()}


def test_columns_of_a_relation_are_those_of_its_cells(places: dict[str, str]) -> None:
    out = Data(places["report.json"], columns=REPORT)
    relation = Relation(csv(places), pairs=([0, 1], [4, 2]), columns={"n": {"age": "aggregation"}, "who": "name"})
    provspark.record(places["prov"], task="t", output=out, relations=[relation])
    prov = provspark.open(places["prov"])
    assert told(prov.cells(places["report.json"]).table()) == {
        *((o, "n", s, "age", "aggregation", True) for o, s in ((0, 4), (1, 2))),
        *((o, "who", s, "name", "transformation", True) for o, s in ((0, 4), (1, 2))),
    }
    assert prov.operations(places["report.json"]).table().num_rows == 2


def test_cells_may_take_other_columns_row_by_row(places: dict[str, str]) -> None:
    cells = [(0, "n", 4, "age"), (0, "who", 4, "name"), (1, "n", 2, "name"), (2, "n", 2, "age"), (2, "n", 3, "age")]

    def asked(rows: np.ndarray[Any, Any]) -> Any:
        return tuple(zip(*[c for c in cells if c[0] in rows], strict=True)) or ((), (), (), ())

    out = Data(places["report.json"], columns=REPORT)
    provspark.record(places["prov"], task="t", output=out, relations=[Relation(csv(places), cells=asked)])
    prov = provspark.open(places["prov"])
    assert told(prov.cells(places["report.json"]).table()) == {(*c, "transformation", True) for c in cells}
    rows = {(x["row"], x["related_row"]) for x in prov.backward(places["report.json"]).table().to_pylist()}
    assert rows == {(o, s) for o, _, s, _ in cells}


def test_columns_and_cells_are_checked(places: dict[str, str]) -> None:
    out = Data(places["report.json"], columns=REPORT)

    def record(**given: Any) -> None:
        provspark.record(places["prov"], task="t", output=out, relations=[Relation(csv(places), **given)])

    with pytest.raises(UnknownColumnError, match="did you mean age"):
        record(pairs=([0], [0]), columns={"n": "agee"})
    with pytest.raises(UnknownColumnError, match="it has n, who"):
        record(pairs=([0], [0]), columns={"total": "age"})
    with pytest.raises(InvalidWriteError, match="no dependence 'copy'"):
        record(pairs=([0], [0]), columns={"n": {"age": "copy"}})
    with pytest.raises(InvalidWriteError, match="pass exactly one of pairs, boxes, rows, cells"):
        record(pairs=([0], [0]), cells=lambda rows: ((), (), (), ()))
    with pytest.raises(InvalidWriteError, match="four lists of equal length"):
        record(cells=lambda rows: ([0], ["n"], [0, 1], ["age"]))
    with pytest.raises(RowOutOfRangeError):
        record(cells=lambda rows: ([0], ["n"], [9], ["age"]))
    with pytest.raises(InvalidWriteError, match="asked for cells of output rows 0 to 3"):
        record(cells=lambda rows: ([7], ["n"], [0], ["age"]))


def test_rows_of_another_store_are_refused(places: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    pq.write_table(pa.table({"x": range(3)}), other / "out.parquet")
    for store, out in (("prov", places["out"]), ("prov2", str(other))):
        provspark.record(
            str(tmp_path / store), task="t", output=out, relations=[Relation(csv(places), pairs=([0], [0]))]
        )
    prov, stranger = provspark.open(places["prov"]), provspark.open(str(tmp_path / "prov2"))
    rows = stranger.select(str(other))
    for ask in (prov.backward, prov.cells, prov.history, prov.how, prov.profile):
        with pytest.raises(UnknownDatasetError, match=r"No dataset named 'file://.*/other' in this store. Did you"):
            ask(rows)  # type: ignore[operator]
    shared = provspark.open(places["prov"]).select(places["out"], [0])
    assert prov.backward(shared).table()["related_row"].to_pylist() == [0]
    (tmp_path / "in.csv").write_text("name,age\nm,1\n")
    relation = Relation(csv(places), pairs=([0], [0]))
    provspark.record(str(tmp_path / "prov2"), task="u", output=places["report.json"], relations=[relation])
    with pytest.raises(UnknownVersionError, match=r"No version '\w+' of file://.*in\.csv.* of its versions: \w+"):
        prov.forward(provspark.open(str(tmp_path / "prov2")).select(places["in.csv"])).table()
