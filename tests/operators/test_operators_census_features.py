"""The published preparation of Census in real Airflow: shapes, exact capture, and a task's profiles."""

from pathlib import Path

import pyarrow.dataset as ds
import pytest
from _dags import ROOT, run_dag

import provspark
from provspark.index_store.store.store import Store

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]


def test_census_features(tmp_path: Path) -> None:
    out, store = tmp_path / "out", str(tmp_path / "prov")
    run = run_dag(ROOT / "dags_examples", "census_features", tmp_path / "airflow", {"out": str(out), "store": store})
    assert run.code == 0, run.log[-5000:]
    assert run.states() == dict.fromkeys(("texts", "joined", "encode", "impute"), "success")
    assert run.warnings() == []
    for task, rows in (("texts", 32561), ("joined", 31898), ("encode", 32561), ("impute", 32561)):
        (output,) = run.xcom(task)["outputs"]
        assert (output["rows"], output["coverage"]) == (rows, "exact")
    assert ds.dataset(out / "census", format="parquet").to_table().shape == (32561, 104)
    stored = {m.key.task_id: [bool(w.profiles) for w in m.writes] for m in Store.open(store).manifests()}
    assert stored == {"texts": [False], "joined": [False], "encode": [False], "impute": [True]}
    impact = provspark.open(store).impact(str(out / "imputed"), "capital_gain").table().to_pylist()
    assert [x["before"] > x["after"] for x in impact if x["measure"] == "mean"] == [True]
