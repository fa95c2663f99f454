"""Every registered question over HTTP: its fields, answers as Python has them, nothing that is masked or hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from _http import BASE, build, client, id_of
from _people import people
from _question_bodies import every_parameter, least
from fastapi.testclient import TestClient

import provspark
from provspark.errors import ProvSparkError
from provspark.index_store.profiles.comparison import Impact
from provspark.index_store.profiles.profile import Profile
from provspark.index_store.query.answer import Answer
from provspark.index_store.query.asking import Asking, Which
from provspark.index_store.query.cell_neighbourhood import CellNeighbourhood
from provspark.index_store.query.column_answer import Cells
from provspark.index_store.query.derivations import Derivations
from provspark.index_store.query.neighbourhood import Neighbourhood
from provspark.index_store.query.parameter_types import ColumnName, DatasetName, Rows
from provspark.index_store.query.parameters import parameters, replays
from provspark.index_store.query.question import QUESTIONS, Question, question
from provspark.index_store.query.row_values import Values
from provspark.index_store.query.rowset import Located, RowSet
from provspark.index_store.query.tabular import FORMER, TableAnswer
from provspark.index_store.values.json_cells import plain
from provspark.model.datasets import Dataset
from provspark.web.answer_lines import COLUMNS
from provspark.web.limits import LIMITS
from provspark.web.policy import Policy
from provspark.web.question_bodies import asked_over_http, body, fields
from provspark.web.scope import dataset_id

if TYPE_CHECKING:
    from typing_extensions import Unpack

ASKED = asked_over_http()
STORED = [q for q in ASKED if not replays(q) or q.name == "cells"]
"""Questions that need no Spark."""
SECRETS = re.compile(r"\b(Ada|Bob|Cy|Dee|Eve|young|36|41|50)\b")
"""Names and ages of the people, and what is made of them."""


def named(questions: list[Question]) -> Any:
    return pytest.mark.parametrize("asked", questions, ids=[q.name for q in questions])


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("questions")
    people(root)
    return root


@pytest.fixture(scope="module")
def prov(root: Path) -> provspark.api.Provenance:
    return provspark.open(str(root / "prov"))


@pytest.fixture(scope="module")
def given(root: Path, prov: provspark.api.Provenance) -> dict[str, Any]:
    """What bodies hold: names of data sets as the API shows them."""
    report, clean, source = ((root / f"{name}.csv").as_uri() for name in ("report", "clean", "people"))
    step = next(s for s in prov.steps().table()["step"].to_pylist() if "report" in s)
    version = prov.select(report).version
    return {
        "dataset": report,
        "to": source,
        "source": source,
        "via": clean,
        "output": report,
        "step": step,
        "column": "city",
        "conditions": "city = Rome",
        "version": version,
        "step or dataset": report,
    }


@pytest.fixture(scope="module")
def api(root: Path) -> Iterator[TestClient]:
    with client(root) as opened:
        yield opened


@pytest.fixture(scope="module")
def described(api: TestClient) -> Any:
    return api.app.openapi()  # type: ignore[attr-defined]


def ask(api: TestClient, asked: Question, body: dict[str, Any], **page: int) -> Any:
    return api.post(f"{BASE}/questions/{asked.name}", json=body, params=page)


@named(ASKED)
def test_each_question_has_a_route_with_its_parameters(asked: Question, described: Any) -> None:
    route = described["paths"][f"{BASE}/questions/{asked.name}"]["post"]
    reference = route["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = described["components"]["schemas"][reference.rsplit("/", 1)[-1]]
    told = {p.name: p for p in parameters(asked) if p.name not in ("progress", "functions")}
    assert schema.get("properties", {}).keys() == told.keys()
    assert {*schema.get("required", ())} == {p.name for p in told.values() if p.required}
    for name, p in told.items():
        field = schema["properties"][name]
        assert " ".join(p.help.split()) in field["description"]
        if isinstance(p.default, bool | int | str):
            assert field["default"] == p.default
    assert route["description"]


def test_the_questions_are_listed(api: TestClient) -> None:
    told = api.get(f"{BASE}/questions").json()["questions"]
    assert [q["name"] for q in told] == [q.name for q in ASKED]
    assert {q.name for q in QUESTIONS.values()} - {q["name"] for q in told} == {"history_pages", "why_not_pages"}
    for one, asked in zip(told, ASKED, strict=True):
        assert [p["name"] for p in one["parameters"]] == [p.name for p in fields(asked)] and one["summary"]


@named(STORED)
def test_answers_are_those_of_python(
    asked: Question, api: TestClient, prov: provspark.api.Provenance, given: dict[str, Any], caplog: Any
) -> None:
    """For each parameter, and for each choice of one. All columns are known: one of another name would be left out."""
    answered = 0
    for sent in every_parameter(asked, given):
        if sent.get("replay"):
            continue
        answer = ask(api, asked, sent)
        assert answer.status_code < 500, (sent, answer.text)
        read = {p.name for p in fields(asked) if p.takes == "conditions"}
        arguments = {k: [("city", "=", "Rome")] if k in read and v else v for k, v in sent.items()}
        try:
            expected = asked.function(prov, **arguments)
        except ProvSparkError:
            assert answer.status_code in (404, 409, 422), (sent, answer.text)
            continue
        assert answer.status_code == 200, (sent, answer.text)
        same(asked, answer.json(), expected)
        answered += 1
        if hasattr(expected, "table") and not isinstance(expected, Derivations | Values | Profile | Impact):
            assert {*expected.table().column_names} - {*FORMER.values()} <= {*COLUMNS, *asked.words}
    assert answered
    assert not [r for r in caplog.records if r.name == "provspark.web.answer_lines"]


def same(asked: Question, told: Any, expected: Any) -> None:
    """Compare an answer over HTTP with that of Python."""
    if isinstance(expected, Neighbourhood | CellNeighbourhood):
        assert told["prov"] == json.loads(json.dumps(expected.prov_json()))
    elif isinstance(expected, Values):
        table = expected.table()
        (part,) = told["tables"]
        assert part["rows"] == table["row"].to_pylist()
        assert part["values"] == [list(line.values())[3:] for line in table.to_pylist()]
        assert [c["name"] for c in part["columns"]] == table.column_names[3:]
    elif isinstance(expected, Derivations):
        lines = [list(line.values()) for line in expected.table().to_pylist()]
        assert [[row, *found] for row, found in zip(told["rows"], told["sources"], strict=True)] == lines
    elif asked.name == "trace":
        assert [(n["dataset"]["name"], n["version"], n["rows"]) for n in told["nodes"]] == [
            (n.dataset, n.version, n.met.count) for n in expected.nodes
        ]
        assert len(told["stops"]) == len(expected.stops) and len(told["gone"]) == len(expected.gone)
    elif asked.name == "profile":
        assert [c["name"] for c in told["columns"]] == [c.name for c in expected.columns]
        assert [c["profile"]["count"] for c in told["columns"]] == [c.count for c in expected.columns]
    elif asked.name == "impact":
        assert [c["name"] for c in told["columns"]] == [name for name, *_ in expected.pairs()]
        assert (told["before_rows"], told["after_rows"]) == (expected.before.rows, expected.after.rows)
    else:
        same_lines(told, expected)


def same_lines(told: Any, expected: Any) -> None:
    if isinstance(expected, RowSet) and not isinstance(expected, Located):
        lines = [{"dataset": expected.dataset, "version": expected.version, "row": row} for row in expected]
    else:
        names = [n for n in expected.table().column_names if n not in FORMER.values()]
        lines = [{k: plain(v) for k, v in line.items()} for line in expected.table().select(names).to_pylist()]
        if isinstance(expected, Located):
            lines = [{"dataset": expected.dataset, "version": expected.version, **line} for line in lines]
    assert told["total"] == len(lines) and told["next"] is None
    assert [by_name(line) for line in told["lines"]] == lines
    if hasattr(expected, "exact") and not isinstance(expected, Cells):
        assert told["exact"] == expected.exact and len(told["stops"]) == len(expected.stops)
    if isinstance(expected, Answer):
        assert [by_name(line) for line in told["possible"]] == expected.possible.table().to_pylist()
    if hasattr(expected, "used"):
        assert [v["version"] for v in told["versions"]] == [u.version for u in expected.used]


def by_name(value: Any) -> Any:
    """A line with data sets as their names."""
    if isinstance(value, dict):
        return value["name"] if {"id", "label"} <= value.keys() else {k: by_name(v) for k, v in value.items()}
    return [by_name(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def masked(root: Path) -> Iterator[TestClient]:
    with client(root, policy=Policy.of(True, "name, age")) as opened:
        yield opened


@pytest.fixture(scope="module")
def off(root: Path) -> Iterator[TestClient]:
    with client(root, policy=Policy(False)) as opened:
        yield opened


@named(STORED)
def test_nothing_masked_is_told(
    asked: Question, root: Path, given: dict[str, Any], masked: TestClient, off: TestClient
) -> None:
    """Whatever parameter is given; and of each data set and column, masked or not."""

    def search(api: TestClient, sent: dict[str, Any]) -> None:
        if sent.get("replay"):
            return
        answer = ask(api, asked, {k: v for k, v in sent.items() if v is not None})
        assert answer.status_code < 500, (sent, answer.text)
        text = re.sub(r"file:///[^\"' ]*|/[\w/.-]*/", "", answer.text)
        assert not SECRETS.search(text), (sent, answer.text)

    for sent in every_parameter(asked, given):
        for api in (masked, off):
            search(api, sent)
    by_column = [p.name for p in fields(asked) if p.takes in ("column", "conditions")]
    for name in ("people", "clean", "report", "copy"):
        for column in ("name", "age", "band", "first"):
            of = {**given, "dataset": (root / f"{name}.csv").as_uri(), "column": column, "version": None}
            of |= {"conditions": f"`{column}` is not null"}
            for sent in every_parameter(asked, of):
                if {*by_column} & sent.keys():
                    search(masked, sent)


def test_the_search_finds_what_is_not_masked(api: TestClient, given: dict[str, Any]) -> None:
    texts = [ask(api, q, b).text for q in STORED for b in every_parameter(q, given) if not b.get("replay")]
    whole = [api.post(f"{BASE}/questions/values", json={"dataset": given["source"]}).text]
    assert {*SECRETS.findall("".join(texts + whole))} >= {"Ada", "Bob", "Cy", "Dee", "Eve", "young", "36", "41", "50"}


@pytest.mark.parametrize("policy", [Policy.of(True, "city"), Policy(False)], ids=["masked", "off"])
def test_what_would_tell_masked_values_is_refused(root: Path, given: dict[str, Any], policy: Policy) -> None:
    """Conditions, columns whose values are counted, and rows that are equal in value."""
    api = client(root, policy=policy)
    conditions = 0
    for asked in ASKED:
        must = least(asked, given)
        for p in fields(asked):
            if p.takes == "conditions" or (p.takes == "column" and not p.many):
                value = ["city = Rome"] if p.takes == "conditions" else "city"
                answer = ask(api, asked, {**must, p.name: value})
                assert answer.status_code == 403, (asked.name, p.name, answer.text)
                conditions += 1
            if p.name in ("semantics", "replay"):
                assert ask(api, asked, {**must, p.name: p.choices[-1] if p.choices else True}).status_code == 403
    assert conditions >= 15
    profiles = ask(api, QUESTIONS["profile"], {"dataset": given["dataset"]})
    assert profiles.status_code == (200 if policy.show_values else 403)
    if policy.show_values:
        (told,) = (c for c in profiles.json()["columns"] if c["name"] == "city")
        assert told["masked"] and told["profile"] is None
    (table,) = ask(api, QUESTIONS["values"], {"dataset": given["dataset"], "rows": [1, 0, 1]}).json()["tables"]
    assert table["rows"] == [1, 0, 1]
    shown = [[None, "2", "Ada"], [None, "1", "Dee"], [None, "2", "Ada"]] if policy.show_values else None
    told = table["values"] and [[None if v is None else str(v) for v in line] for line in table["values"]]
    assert told == shown


@pytest.mark.usefixtures("registry")
def test_a_new_question_answers_without_any_other_change(root: Path, given: dict[str, Any]) -> None:
    @question(paper="None")
    def eldest(
        prov: Asking, dataset: DatasetName, rows: Rows = None, *, column: ColumnName, **which: Unpack[Which]
    ) -> TableAnswer:
        """Tell the eldest.

        Parameters
        ----------
        column : str
            Of `dataset`.
        dataset, rows, **which
            See `backward`.
        """
        asked = prov.asked("eldest", dataset, rows, which)
        numbers = asked.labels.rows()
        about = {"row": numbers, "dataset": [str(asked.at.version.dataset)] * len(numbers)}
        about |= {"value": ["Ada"] * len(numbers), "why": ["as Ada is"] * len(numbers)}
        return TableAnswer(pa.table({**about, "unheard_of": ["Ada"] * len(numbers)}))

    asked, source = QUESTIONS["eldest"], {"dataset": given["source"], "rows": [0]}
    api = client(root)
    assert "eldest" in [q["name"] for q in api.get(f"{BASE}/questions").json()["questions"]]
    (line,) = ask(api, asked, {**source, "column": "name"}).json()["lines"]
    assert by_name(line) == {"row": 0, "dataset": given["source"], "value": "Ada", "why": "as Ada is"}
    masked = client(root, policy=Policy.of(True, "name"))
    assert ask(masked, asked, {**source, "column": "name"}).status_code == 403
    (line,) = ask(masked, asked, {**source, "column": "city"}).json()["lines"]
    assert (line["value"], line["why"]) == ("Ada", None)  # a value of the column that it asked for, and may
    off = ask(client(root, policy=Policy(False)), asked, {**source, "column": "city"})
    assert off.status_code == 403
    assert ask(api, asked, {**source, "column": "name", "to": given["source"]}).status_code == 422
    assert ask(client(root, ["other"]), asked, {**source, "column": "name"}).status_code == 404
    assert ask(api, asked, {**source, "rows": [7], "column": "name"}).status_code == 422
    assert client(root).post(f"{BASE}/questions/eldest", json={}, headers={"who": "other"}).status_code == 401


@pytest.mark.usefixtures("registry")
def test_an_answer_of_no_known_class_is_refused_when_the_server_starts(root: Path) -> None:
    @question()
    def odd(prov: Asking, dataset: DatasetName) -> int:
        """Count.

        Parameters
        ----------
        dataset : str
            A dataset.
        """
        return 1

    with pytest.raises(TypeError, match="odd: the API has no form for int"):
        client(root)


def test_data_sets_are_named_by_id_or_by_the_name_shown(api: TestClient, given: dict[str, Any]) -> None:
    by_uri, by_id = (
        ask(api, QUESTIONS["backward"], {"dataset": name, "rows": [0]}).json()
        for name in (given["dataset"], dataset_id(Dataset.parse(given["dataset"])))
    )
    assert by_uri == by_id and by_uri["lines"]


@pytest.fixture(scope="module")
def dags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("http"))


@pytest.fixture(scope="module")
def shop(dags: Path) -> Iterator[TestClient]:
    """A user of DAG shop; vault, and the run without a DAG, are others'."""
    with client(dags, ["shop"]) as opened:
        yield opened


@named(ASKED)
def test_what_is_hidden_is_not_there(asked: Question, dags: Path, shop: TestClient) -> None:
    """A data set or a step of another DAG is as one that is not there, in every field."""
    prov = provspark.open(str(dags / "prov"))
    hidden_steps = [s for s in prov.steps().table()["step"].to_pylist() if not s.startswith("shop-")]
    seen = next(s for s in prov.steps().table()["step"].to_pylist() if s.startswith("shop-"))
    raw = (dags / "raw").as_uri()
    good = {"dataset": raw, "step": seen, "column": "age", "conditions": "age = 30"}
    good["version"] = prov.select(raw).version
    must = least(asked, good)
    for p in fields(asked):
        if p.takes not in ("dataset", "step", "step or dataset", "place"):
            continue
        names = [(dags / "loose").as_uri(), id_of(dags, "loose")] if p.takes != "step" else []
        for name in (*names, *hidden_steps, "0" * 16):
            answer = ask(shop, asked, {**must, p.name: [name] if p.many else name})
            assert answer.status_code == 404, (p.name, name, answer.text)
            assert "no access to it" in answer.text and "vault" not in answer.text and "loose" not in answer.text
    if asked not in STORED:
        return
    for dataset in ("people", "report"):
        of = {**good, "dataset": (dags / dataset).as_uri(), "to": raw, "source": raw, "via": raw}
        of |= {"step or dataset": seen}
        for sent in every_parameter(asked, of):
            if not sent.get("replay"):
                answer = ask(shop, asked, {k: v for k, v in sent.items() if k != "version"})
                assert answer.status_code < 500, (sent, answer.text)
                assert not re.search("vault|loose|hide-", answer.text), (sent, answer.text)


PATHS = (
    *("../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "report", "./report", "../report", "report/", "."),
    *("http://127.0.0.1:9/x", "s3://bucket/key", "//127.0.0.1/share", "%2e%2e/report", "raw/../report", "~/x", "\0"),
    *("memory://range/0,5,1", "x" * 2000, "x" * 2001, "", " "),
)


@named(ASKED)
def test_no_text_is_taken_for_a_path(
    asked: Question, dags: Path, shop: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dags)  # where `report` would be a folder
    parsed: list[str] = []
    real = Dataset.parse
    monkeypatch.setattr(Dataset, "parse", lambda text: parsed.append(text) or real(text))
    known = {(dags / name).as_uri() for name in ("raw", "people", "secret", "report", "loose")}
    good = {"dataset": (dags / "report").as_uri(), "step": "x", "column": "age", "conditions": "age = 30"}
    must = least(asked, good)
    every = PATHS if asked.name in ("backward", "operations", "impact") else PATHS[::4]
    texts = (*every, str(dags / "report"), (dags / "report").as_uri() + "/", (dags / "report").as_uri() + "/../raw")
    for p in fields(asked):
        if p.takes in ("dataset", "step", "step or dataset", "place"):
            for text in texts:
                answer = ask(shop, asked, {**must, p.name: [text] if p.many else text})
                assert answer.status_code in (404, 422), (p.name, text, answer.text)
                assert len(answer.text) < 3000
    assert {*parsed} <= known


@named(ASKED)
def test_values_of_other_types_are_refused(asked: Question, api: TestClient, given: dict[str, Any]) -> None:
    must = least(asked, given)
    for name in must:
        assert ask(api, asked, {k: v for k, v in must.items() if k != name}).status_code == 422
    for extra in ("progress", "functions", "path"):
        assert ask(api, asked, {**must, extra: True}).status_code == 422
    for p in fields(asked):
        if p.takes != "flag":
            for wrong in ([["a"]], -1.5, "\ud7ff" * 2001):
                answer = ask(api, asked, {**must, p.name: wrong})
                assert answer.status_code == 422, (p.name, wrong, answer.text)


@named([q for q in ASKED if replays(q) and any(p.name == "rows" for p in fields(q))])
def test_a_replay_has_few_rows(asked: Question, api: TestClient, given: dict[str, Any]) -> None:
    again = {"replay": True} if asked.name == "cells" else {}
    for rows in ([0] * 21, []):
        answer = ask(api, asked, {**least(asked, given), **again, "rows": rows})
        assert answer.status_code == 422 and "1 to 20" in answer.text


def test_pages_of_values_and_columns_that_are_not_there(api: TestClient, given: dict[str, Any]) -> None:
    first = ask(api, QUESTIONS["values"], {"dataset": given["source"]}, limit=2).json()
    assert (first["tables"][0]["rows"], first["next"]) == ([0, 1], 2)
    rest = ask(api, QUESTIONS["values"], {"dataset": given["source"]}, cursor=2).json()
    assert (rest["tables"][0]["rows"], rest["next"]) == ([2, 3, 4], None)
    assert ask(api, QUESTIONS["values"], {"dataset": given["source"]}, limit=LIMITS.get().max_items + 5).json()
    for asked in ASKED:
        names = [p for p in fields(asked) if p.takes == "column"]
        for p in names if asked in STORED else ():
            answer = ask(api, asked, {**least(asked, given), p.name: ["nothing"] if p.many else "nothing"})
            assert answer.status_code == 422, (asked.name, answer.text)


def test_each_body_has_a_name_of_its_own() -> None:
    names = [body(q).__name__ for q in ASKED]
    assert len({*names}) == len(names) and all(n.endswith("Question") for n in names)


def test_a_mask_is_no_list_of_row_ids(api: TestClient, given: dict[str, Any]) -> None:
    """As in Python: true would be row 1."""
    for rows in ([True, False], [0, True]):
        answer = ask(api, QUESTIONS["backward"], {"dataset": given["dataset"], "rows": rows})
        assert answer.status_code == 422 and "whole number" in answer.text


@pytest.mark.parametrize(("wrong", "said"), [("0", '"0"'), (1.0, "1.0"), (True, "true"), (None, "null"), ([0], "[0]")])
def test_every_number_in_a_body_is_a_whole_number(api: TestClient, wrong: Any, said: str) -> None:
    """A text, a float or a mask is no row id, and no limit; the message names what was found."""
    numbers = 0
    for path, name, many, optional in numbers_in_bodies(api):
        if wrong is None and optional and not many:
            continue
        answer = api.post(path, json={name: [wrong] if many else wrong})
        assert answer.status_code == 422, (path, name, answer.text)
        place = f"{name}.0" if many else name
        assert f"{place}: must be a whole number, found {said}" in answer.json()["detail"], (path, name, answer.text)
        numbers += 1
    assert numbers > 30


def numbers_in_bodies(api: TestClient) -> Iterator[tuple[str, str, bool, bool]]:
    """The path, the field, whether it has several, and whether it may be null."""
    description: Any = api.app.openapi()  # type: ignore[attr-defined]
    for path, operations in description["paths"].items():
        for operation in operations.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = description["components"]["schemas"][content["schema"]["$ref"].rsplit("/", 1)[-1]]
                for name, field in schema["properties"].items():
                    kinds = field.get("anyOf", [field])
                    for kind in kinds:
                        if "integer" in (kind.get("type"), kind.get("items", {}).get("type")):
                            yield path, name, kind["type"] == "array", {"type": "null"} in kinds


def test_a_long_value_is_cut(api: TestClient, given: dict[str, Any]) -> None:
    answer = ask(api, QUESTIONS["backward"], {"dataset": given["dataset"], "rows": ["1" * 5000]})
    assert answer.status_code == 422 and len(answer.text) < 400
