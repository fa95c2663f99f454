"""The catalogue of the last release (4e20b32, schema 0001) goes on working."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _last_release import unpack

import provspark
from provspark.errors import CatalogueError
from provspark.hooks.prov import ProvHook
from provspark.index_store.catalogue import Catalogue


@pytest.fixture
def root(tmp_path: Path) -> Path:
    unpack(root := tmp_path / "data")
    return root


def test_questions_take_it_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "catalogue.db"
    before = file.read_bytes()
    url = f"sqlite:///{file}"
    asked = {"rows": [17], "to": str(root / "people.csv")}
    expected = provspark.open(root / "prov").backward(str(root / "report"), **asked)
    assert provspark.open(url).backward(str(root / "report"), **asked) == expected
    extra = {"catalogue": url}
    monkeypatch.setenv("AIRFLOW_CONN_PROVSPARK_DEFAULT", json.dumps({"conn_type": "provspark", "extra": extra}))
    assert ProvHook().backward(str(root / "report"), **asked) == expected
    assert file.read_bytes() == before
    with pytest.raises(CatalogueError, match="catalogue upgrade"):
        Catalogue.open(url, migrate=False)


def test_what_writes_to_it_upgrades_it(root: Path) -> None:
    with Catalogue.open(f"sqlite:///{root}/catalogue.db") as catalogue:
        steps = {step.ref.step.split("-")[1]: step.ref.step for step in catalogue.steps()}
        assert {step.split("-")[1] for step in (s.ref.step for s in catalogue.upstream(steps["report"]))} == {
            *("people", "clean", "sides", "joined")
        }
        assert catalogue.stores() == [f"file://{root}/prov"] and catalogue.declarations() == []
