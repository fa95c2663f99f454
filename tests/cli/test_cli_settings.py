from __future__ import annotations

from pathlib import Path

import pytest

from provspark.errors import SettingsError
from provspark.settings import Settings


def test_nothing_set() -> None:
    found = Settings.read({})
    assert (found.store, found.catalogue_given) == (None, False)
    assert found.catalogue == f"sqlite:///{Path.home()}/.provspark/catalogue.db"
    with pytest.raises(SettingsError, match="set PROVSPARK_STORE"):
        found.url()
    with pytest.raises(SettingsError, match="set PROVSPARK_STORE"):
        found.store_url()
    assert found.url("/given") == found.store_url("/given") == "/given"


def test_the_environment() -> None:
    found = Settings.read({"PROVSPARK_STORE": "/prov", "PROVSPARK_CATALOGUE": "sqlite:////c.db"})
    assert (found.url(), found.store_url(), found.catalogue) == ("/prov", "/prov", "sqlite:////c.db")
    only = Settings.read({"PROVSPARK_CATALOGUE": "sqlite:////c.db", "PROVSPARK_STORE": ""})
    assert only.url() == "sqlite:////c.db"
    with pytest.raises(SettingsError):
        only.store_url()
    assert Settings.read({"AIRFLOW_HOME": "/a"}).catalogue == "sqlite:////a/provspark.db"


@pytest.mark.airflow
def test_airflows_configuration_comes_after_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.setenv("AIRFLOW__PROVSPARK__STORE", "/from/airflow")
    monkeypatch.setenv("AIRFLOW__PROVSPARK__CATALOGUE", "sqlite:////airflow.db")
    found = Settings.read({"PROVSPARK_CATALOGUE": "sqlite:////c.db"}, airflow=True)
    assert (found.store, found.catalogue) == ("/from/airflow", "sqlite:////c.db")
    assert Settings.read({}).store is None
