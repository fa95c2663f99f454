"""The second example in real Airflow, its events sent over HTTP: lineage, shapes and files of plain Spark."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.dataset as ds
import pytest
from _dags import ROOT, Run, run_dag

import provspark
from provspark.index_store.catalogue import Catalogue

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]
EXAMPLES = ROOT / "dags_examples"
KEY = "a-key-for-the-examples"
SERVE = """
import socket, sys, uvicorn
from provspark.web.events import Events, events_app
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(events_app(Events(*sys.argv[1:])), log_level="error")).run(sockets=[listener])
"""
NEEDED = [
    *("age", "c_charge_degree", "race", "sex", "priors_count", "days_b_screening_arrest", "two_year_recid"),
    *("c_jail_in", "c_jail_out"),
]


@contextmanager
def receiver(catalogue: str) -> Iterator[str]:
    command = [sys.executable, "-c", SERVE, catalogue, KEY]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("credit_compas")


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    with receiver(f"sqlite:///{folder}/catalogue.db") as url:
        auth = {"type": "api_key", "apiKey": KEY}
        return run_dag(
            EXAMPLES,
            "credit_compas",
            folder / "airflow",
            {"out": str(folder / "out"), "store": str(folder / "prov")},
            AIRFLOW__OPENLINEAGE__TRANSPORT=json.dumps({"type": "http", "url": url, "auth": auth}),
        )


@pytest.fixture(scope="module")
def prov(run: Run, folder: Path) -> Any:
    assert run.code == 0, run.log[-5000:]
    assert run.warnings() == []
    return provspark.open(str(folder / "prov"))


@pytest.mark.parametrize(("name", "shape"), [("credit", (1000, 60)), ("compas", (6907, 8))])
def test_shapes_are_the_published_ones(prov: Any, folder: Path, name: str, shape: tuple[int, int]) -> None:
    assert ds.dataset(folder / "out" / name, format="parquet").to_table().shape == shape


def test_each_credit_record_comes_from_its_line(prov: Any, folder: Path) -> None:
    source, out = str(EXAMPLES / "data" / "german.csv"), str(folder / "out" / "credit")
    backward = prov.backward(out, to=source).table()
    assert backward["row"].to_pylist() == list(range(1000)) == backward["related_row"].to_pylist()
    assert prov.forward(source, [17], to=out).table()["related_row"].to_pylist() == [17]


def test_complete_compas_records_come_from_their_lines(prov: Any, folder: Path) -> None:
    source, out = EXAMPLES / "data" / "compas.csv", str(folder / "out" / "compas")
    text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(NEEDED, pyarrow.string()), include_columns=NEEDED)
    records = pyarrow.csv.read_csv(source, convert_options=text).to_pylist()
    kept = [line for line, record in enumerate(records) if all(record.values())]
    backward = prov.backward(out, to=str(source)).table()
    assert backward["row"].to_pylist() == list(range(6907))
    assert backward["related_row"].to_pylist() == kept
    dropped = next(line for line in range(7214) if line not in set(kept))
    assert prov.forward(str(source), [dropped], to=out).table().num_rows == 0


def test_events_over_http_fill_the_catalogue(run: Run, folder: Path) -> None:
    with Catalogue.open(f"sqlite:///{folder}/catalogue.db") as catalogue:
        done = {s.key.task_id: s.status for s in catalogue.steps()}
        assert done == dict.fromkeys(run.states(), "succeeded")
        for task, before in (("credit_encode", "credit_terms"), ("compas_label", "compas_complete")):
            above = catalogue.upstream(run.xcom(task)["step"])
            assert [s.key.task_id for s in above] == [before]


@pytest.mark.parametrize(
    ("script", "source", "out"),
    [("credit/terms.py", "german.csv", "credit_terms"), ("compas/complete.py", "compas.csv", "compas_complete")],
)
def test_what_is_written_is_what_plain_spark_writes(
    run: Run, folder: Path, tmp_path: Path, script: str, source: str, out: str
) -> None:
    submit = Path(sys.executable).with_name("spark-submit")
    command = [submit, "--master", "local[2]", EXAMPLES / script, EXAMPLES / "data" / source, tmp_path / out]
    subprocess.run(command, check=True, capture_output=True)
    plain, ours = (ds.dataset(d / out, format="parquet").to_table() for d in (tmp_path, folder / "out"))
    assert ours.equals(plain)
