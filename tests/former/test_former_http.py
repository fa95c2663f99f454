"""Requests by the last release's openapi.json (4e20b32) are answered as then, with all fields that it describes."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from _answers import ANSWERS, PLACED, at_data, without, without_format_stops
from _changed import of_line
from _coverage import missing
from _http import client
from _last_release import HERE, unpack
from _requests import answer, dataset_id, lines, send

import provspark

OPENAPI: dict[str, Any] = json.loads(gzip.decompress((HERE / "openapi.json.gz").read_bytes()))
"""Responses as the last release described them; further properties are allowed."""
RENAMED_ROUTES = {
    r"/sideways\b": r"/co_(contributory|dependency)\b",
    r"/datasets/[^/]+/beside$": r"/datasets/[^/]+/related>",
}
"""Routes that go, and what follows each. A request for one is answered with a header ``Deprecation`` and a ``Link`` to
its successor, and no other request is."""


def test_requests(tmp_path: Path) -> None:
    check("requests.txt", tmp_path)


@pytest.mark.spark
def test_requests_that_replay(tmp_path: Path) -> None:
    check("requests_replay.txt", tmp_path)


def test_each_route_is_asked() -> None:
    asked = {_operation(line) for file in ("requests.txt", "requests_replay.txt") for line in lines(file)}
    assert asked == {(path, method) for path, operations in OPENAPI["paths"].items() for method in operations}


def check(file: str, folder: Path) -> None:
    """Send a file's requests, and compare what each is answered."""
    root = folder / "data"
    root.mkdir()
    places = unpack(root)
    datasets = provspark.open(str(root / "prov")).datasets()
    versions = {Path(line["dataset"]).name: line["version"] for line in datasets}
    places |= {dataset_id(root / name): dataset_id(Path("/data") / name) for name in versions}
    api = client(root)
    try:
        for line in lines(file):
            response = send(api, line, root, versions)
            told = answer(response)
            now, then = without_format_stops(at_data(told, places)), ANSWERS["http"][line]
            then = of_line(line, now, then)
            assert not list(missing(without(now, *PLACED), without(then, *PLACED))), line
            _check_described(line, without_format_stops(told))
            _check_headers(line, response.headers)
    finally:
        api.app.state.replays.close()  # type: ignore[attr-defined]


def _operation(line: str) -> tuple[str, str]:
    method, path, *_ = line.split(" ", 2)
    path = re.sub(r"\{[\w.]+\}", "x", path.partition("?")[0])
    for known in OPENAPI["paths"]:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), f"/api/v1{path}"):
            return known, method.lower()
    raise AssertionError(f"no route for {line}")


def _check_described(line: str, told: list[Any]) -> None:
    path, method = _operation(line)
    content = OPENAPI["paths"][path][method]["responses"][str(told[0])]
    if told[1] in content and "schema" in content[told[1]]:
        schema = {**content[told[1]]["schema"], "components": OPENAPI["components"]}
        jsonschema.Draft202012Validator(schema).validate(told[2])


def _check_headers(line: str, headers: Any) -> None:
    path = line.split(" ", 2)[1].partition("?")[0]
    new = next((new for old, new in RENAMED_ROUTES.items() if re.match(old, path)), None)
    assert ("deprecation" in headers) == (new is not None), line
    assert new is None or re.search(new, headers["link"]), line
