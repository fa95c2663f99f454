"""The command that ProvSparkOperator starts, compared with SparkSubmitOperator's."""

import inspect
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from provspark.errors import SettingsError
from provspark.hooks.spark import CaptureArguments
from provspark.model.steps import StepKey
from provspark.operators.refusals import refusal
from provspark.operators.spark import ProvSparkOperator

LOCAL = '{"conn_type": "spark", "host": "local[2]"}'
KEY = StepKey("clean", "manual__2026-01-02", "census", 3, 2)
EVERYTHING: dict[str, Any] = {
    "application": "/jobs/clean.py",
    "application_args": ["--in", "/data/a b", "--", "x"],
    "conf": {"spark.sql.shuffle.partitions": 3},
    "files": "a.txt",
    "py_files": "lib.zip,more.py",
    "archives": "env.tar.gz",
    "jars": "x.jar",
    "driver_class_path": "/opt/x",
    "packages": "a:b:1",
    "exclude_packages": "c:d",
    "repositories": "https://repo.invalid",
    "total_executor_cores": 4,
    "executor_cores": 2,
    "executor_memory": "1g",
    "driver_memory": "2g",
    "num_executors": 2,
    "name": "clean",
    "verbose": True,
    "spark_binary": "/opt/spark/bin/spark-submit",
    "properties_file": "spark.conf",
    "env_vars": {"PYSPARK_PYTHON": sys.executable},
}


@pytest.fixture(autouse=True)
def local_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", LOCAL)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_REMOTE", "SPARK_API_MODE", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)


def command(operator: Any, application: str, key: StepKey | None = KEY) -> list[str]:
    """What the operator would start, read from its hook as `submit` builds it."""
    if key is not None and isinstance(operator, ProvSparkOperator):
        operator._capture = CaptureArguments("file:///prov", key, operator.on_error, operator.prov_profile)
    hook = operator._get_hook()
    started: list[list[str]] = []
    build = hook._build_spark_submit_command

    class Built(Exception):  # noqa: N818
        pass

    def stop(path: str) -> None:
        started.append(build(path))
        raise Built

    hook._build_spark_submit_command = stop
    with pytest.raises(Built):
        hook.submit(application)
    return started[0]


def test_every_argument_of_spark_submit_is_there() -> None:
    theirs = inspect.signature(SparkSubmitOperator.__init__).parameters
    operator = ProvSparkOperator(task_id="t", prov_store="/prov", **EVERYTHING)
    plain = SparkSubmitOperator(task_id="t", **EVERYTHING)
    for name in theirs:
        for field in (name, f"_{name}"):
            if hasattr(plain, field) and not callable(getattr(plain, field)):
                assert getattr(operator, field) == getattr(plain, field)
    assert set(ProvSparkOperator.template_fields) >= set(SparkSubmitOperator.template_fields)


def test_profiles_are_asked_for() -> None:
    asked, unasked = (ProvSparkOperator(task_id="t", prov_profile=p, **EVERYTHING) for p in (True, False))
    ours = command(asked, "/jobs/clean.py")
    assert ours.index("--profile") < ours.index("--")
    assert "--profile" not in command(unasked, "/jobs/clean.py")


def test_the_runner_stands_where_the_script_stood() -> None:
    plain = command(SparkSubmitOperator(task_id="t", **EVERYTHING), "/jobs/clean.py")
    operator = ProvSparkOperator(task_id="t", **EVERYTHING)
    ours = command(operator, "/jobs/clean.py")
    at = plain.index("/jobs/clean.py")
    assert ours[:at] == plain[:at]
    runner = Path(ours[at])
    assert (runner.name, runner.exists()) == ("runner.py", True)
    split = ours.index("--", at)
    assert ours[split + 1 :] == plain[at:]
    assert ours[at + 1 : split] == [
        "--store=file:///prov",
        "--dag-id=census",
        "--run-id=manual__2026-01-02",
        "--task-id=clean",
        "--map-index=3",
        "--try-number=2",
        "--on-error=warn",
        "--mode=index",
    ]
    assert operator.application == EVERYTHING["application"]
    assert operator.application_args == EVERYTHING["application_args"]
    assert operator.conf == EVERYTHING["conf"]


def test_the_runner_reads_the_options_back() -> None:
    from provspark.tracker.runner import _parser

    key = StepKey("-t", "-r", "-d", -1, 1)
    ours = command(ProvSparkOperator(task_id="t", on_error="fail", **EVERYTHING), "/jobs/clean.py", key)
    options = _parser().parse_args(ours[ours.index("--store=file:///prov") :])
    assert (options.dag_id, options.run_id, options.task_id) == ("-d", "-r", "-t")
    assert (options.map_index, options.try_number) == (-1, 1)
    assert (options.store, options.on_error, options.mode) == ("file:///prov", "fail", "index")
    assert options.app == ["/jobs/clean.py", "--in", "/data/a b", "--", "x"]


def test_off_is_the_plain_command() -> None:
    plain = command(SparkSubmitOperator(task_id="t", **EVERYTHING), "/jobs/clean.py")
    assert command(ProvSparkOperator(task_id="t", prov_mode="off", **EVERYTHING), "/jobs/clean.py", None) == plain


def test_a_pip_installed_spark_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ours = command(ProvSparkOperator(task_id="t", application="a.py", conf={"a": "b"}), "a.py")
    assert Path(ours[0]).parts[-3:] == ("pyspark", "bin", "spark-submit")
    assert f"spark.pyspark.python={sys.executable}" in ours


def test_a_spark_submit_on_path_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = tmp_path / "spark-submit"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command(ProvSparkOperator(task_id="t", application="a.py"), "a.py")[0] == "spark-submit"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of another environment, which has a pyspark of its own."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, symlinks=True)
    home = next((folder / "lib").iterdir()) / "site-packages" / "pyspark"
    for path in (home / "__init__.py", home / "bin" / "spark-submit"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder / "bin" / "python"


@pytest.mark.parametrize("on_path", [True, False])
@pytest.mark.parametrize("where", ["spark.pyspark.driver.python", "PYSPARK_DRIVER_PYTHON"])
def test_spark_is_that_of_the_drivers_python(
    where: str, on_path: bool, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the driver's pyspark would talk to a JVM of the version that Airflow's environment has."""
    if on_path:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        binary = tmp_path / "spark-submit"
        binary.write_text("#!/bin/sh\n")
        binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen: dict[str, Any] = {"conf" if where.startswith("spark") else "env_vars": {where: str(other)}}
    home = next((other.parents[1] / "lib").iterdir()) / "site-packages" / "pyspark"
    ours = command(ProvSparkOperator(task_id="t", application="a.py", **chosen), "a.py")
    assert ours[0] == str(home / "bin" / "spark-submit")
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert command(ProvSparkOperator(task_id="t", application="a.py", **chosen), "a.py")[0] != ours[0]


@pytest.mark.parametrize(
    "chosen",
    [
        {"conf": {"spark.pyspark.python": sys.executable}},
        {"conf": {"spark.pyspark.driver.python": sys.executable}},
        {"env_vars": {"PYSPARK_PYTHON": sys.executable}},
        {"env_vars": {"PYSPARK_DRIVER_PYTHON": sys.executable}},
    ],
)
def test_a_chosen_python_stays(chosen: dict[str, Any]) -> None:
    plain = command(SparkSubmitOperator(task_id="t", application="a.py", **chosen), "a.py")
    ours = command(ProvSparkOperator(task_id="t", application="a.py", spark_binary="spark-submit", **chosen), "a.py")
    assert ours[: len(plain) - 1] == plain[:-1]


def test_no_python_is_chosen_for_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "spark://h", "port": 7077}')
    ours = command(ProvSparkOperator(task_id="t", application="a.py"), "a.py")
    assert not any("pyspark.python" in part for part in ours)


def reason(connection: str = LOCAL, *, application: str = "a.py", **arguments: Any) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection)
        operator = ProvSparkOperator(task_id="t", application=application, **arguments)
        found = refusal(operator._get_hook(), operator.application, operator._java_class)
    return "" if found is None else str(found)


def test_a_script_is_not_refused() -> None:
    assert reason() == ""
    assert reason(application="file:///jobs/a%20b.py") == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"application": "x.jar"}, "JVM application: x.jar"),
        ({"application": "x.jar", "java_class": "org.Main"}, "JVM application: org.Main"),
        ({"application": ""}, "application: '' is not a Python script"),
        ({"application": "x.R"}, "application: 'x.R' is not a Python script"),
        ({"application": "s3a://jobs/a.py"}, "application: s3a://jobs/a.py is not on this machine"),
        ({"conf": {"spark.remote": "sc://host;token=secret"}}, "Spark Connect: spark.remote is sc://host:"),
        ({"env_vars": {"SPARK_REMOTE": "sc://host"}}, "Spark Connect: SPARK_REMOTE is sc://host:"),
        ({"conf": {"spark.api.mode": "connect"}}, "Spark Connect: spark.api.mode is connect"),
        ({"connection": '{"conn_type": "spark", "host": "sc://h", "port": 15002}'}, "Spark Connect: the connection"),
        ({"deploy_mode": "cluster"}, "deploy mode: cluster"),
        ({"env_vars": {"PYSPARK_PYTHON": "/no/python"}}, "driver's Python: /no/python does not answer"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], expected: str) -> None:
    found = reason(**arguments)
    assert found.startswith(expected)
    assert "secret" not in found


def test_a_driver_without_provspark_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    python.chmod(0o755)
    found = reason(conf={"spark.pyspark.python": str(python)})
    assert found.startswith(f"driver's Python: {python} can't import provspark (ModuleNotFoundError")


@pytest.mark.parametrize("wrong", [{"prov_mode": "lazy"}, {"on_error": "ignore"}])
def test_wrong_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="must be one of"):
        ProvSparkOperator(task_id="t", application="a.py", **wrong)
