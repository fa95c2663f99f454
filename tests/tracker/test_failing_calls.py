"""Whatever fails in capture, the script runs as it would alone, and the step says that it was not tracked."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _failing_calls import Failing
from oracle import outputs
from pyspark.sql import Observation
from pyspark.sql import functions as sf

import provspark
from provspark.errors import CaptureError
from provspark.tracker import attach, runner
from provspark.tracker.intercept.import_hook import WhenImported
from provspark.tracker.spark import supported

pytestmark = pytest.mark.spark


def job(spark: Any, folder: Path) -> list[Any]:
    """Return what a script sees of its data on the driver; what it writes is in the folder."""
    one, two, three = (str(folder / name) for name in ("one", "two", "three"))
    spark.range(12).selectExpr("id", "id % 3 AS k").coalesce(1).write.parquet(one)
    rows = spark.read.parquet(one).cache()
    seen: list[Any] = [rows.count()]
    observed = Observation("o")
    called = rows.withColumn("y", sf.udf(lambda x: x + 1, "bigint")("id")).observe(observed, sf.max("y").alias("most"))
    called.groupBy("k").agg(sf.sum("y").alias("s")).sort("k").coalesce(1).write.partitionBy("k").parquet(two)
    seen.append(observed.get["most"])
    rows.createOrReplaceTempView("rows")
    kept = spark.sql("SELECT id FROM rows WHERE id IN (SELECT k FROM rows)").localCheckpoint()
    kept.coalesce(1).write.mode("overwrite").json(three)
    spark.sql(
        f"INSERT OVERWRITE DIRECTORY '{folder}/four' USING csv SELECT /*+ COALESCE(1) */ k FROM rows WHERE id > 9"
    )
    made = spark.createDataFrame([(1, "a"), (2, "b")], ["n", "t"])
    made.join(rows, made.n == rows.id).drop("id").coalesce(1).write.orc(str(folder / "five"))
    seen += [sorted(kept.toPandas()["id"]), rows.rdd.map(lambda row: row.id).sum(), made.take(1)]
    spark.sql("CACHE TABLE few AS SELECT id, k FROM rows WHERE id < 4")
    spark.table("few").transpose("id").coalesce(1).write.json(str(folder / "six"))
    spark.table("few").rdd.map(lambda row: (row.k,)).toDF(["k"]).coalesce(1).write.json(str(folder / "seven"))
    spark.catalog.dropTempView("few")
    rows.unpersist()
    return seen


def written(folder: Path) -> dict[str, Any]:
    forms = {
        "one": "parquet",
        "two": "parquet",
        "three": "json",
        "four": "csv",
        "five": "orc",
        "six": "json",
        "seven": "json",
    }
    return {name: outputs.read(folder / name, form).rows for name, form in forms.items()}


@pytest.fixture(scope="module")
def plain(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("plain")
    return job(spark, folder), written(folder)


def patched() -> list[str]:
    """Return what of pyspark's classes, and of what Python asks when it imports, is ours now."""
    found = [type(finder).__name__ for finder in sys.meta_path if isinstance(finder, WhenImported)]
    for name in sorted(m for m in sys.modules if m.startswith("pyspark.")):
        for owner in {v for v in vars(sys.modules[name]).values() if isinstance(v, type)}:
            for attribute, value in vars(owner).items():
                function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                if "provspark" in getattr(getattr(function, "__code__", None), "co_filename", ""):
                    found.append(f"{owner.__qualname__}.{attribute}")
    return found


def small(spark: Any, folder: Path) -> int:
    spark.range(3).coalesce(1).write.parquet(str(folder / "out"))
    return len(outputs.read(folder / "out").rows)


def calls_of_begin(spark: Any, folder: Path) -> list[str]:
    """Return the functions that `attach` calls before the script runs."""
    every, block = Failing(), attach(store=(folder / "store").as_uri(), step="s")
    with every.during():
        block.__enter__()
    assert "DataFrame.__init__" in patched()
    block.__exit__(None, None, None)
    assert patched() == []
    return every.names


def test_each_call_of_begin_fails_in_turn(spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = calls_of_begin(spark, tmp_path / "all")
    assert len(names) > 60 and {"tracker/capture.py:Capture.begin", "tracker/spark/jvm.py:Jvm.__init__"} <= set(names)
    tried = 0
    for k, name in enumerate(names):
        if name.startswith("tracker/attachment.py:"):
            continue  # the call of the script's own
        folder, failing = tmp_path / str(k), Failing(name)
        caplog.clear()
        block = attach(store=(folder / "store").as_uri(), step="s")
        with failing.during():
            capture = block.__enter__()
        given_up = [u for u in capture.untracked if u.node in ("attach", "store")]
        assert not given_up or (patched() == [] and runner.SUPPORTED in given_up[0].why), name
        assert small(spark, folder) == 3, name
        block.__exit__(None, None, None)
        assert patched() == [] and "sql" not in vars(spark._jsparkSession), name
        if not given_up and not capture.untracked:
            assert [w.coverage for w in capture.manifest.writes] == ["exact"], name  # type: ignore[union-attr]
        else:
            assert name in caplog.text
            tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    "name", ["index_store/store/store.py:Store.open", "tracker/intercept/patches.py:Interception._around"]
)
def test_a_call_of_begin_fails_where_trouble_is_to_stop_the_job(name: str, spark: Any, tmp_path: Path) -> None:
    block = attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail")
    failing = Failing(name)
    with failing.during(), pytest.raises(CaptureError, match=r"Capture can't start\. BrokenError"):
        block.__enter__()
    assert patched() == []
    assert small(spark, tmp_path) == 3
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:  # nothing is held
        small(spark, tmp_path / "again")
    assert capture.untracked == ()


@pytest.mark.parametrize("version", ["3.5.9", "4.4.0", "5.0.0.dev1"])
def test_versions_that_are_not_supported(
    version: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.__version__", version)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:
        assert patched() == []
        assert small(spark, tmp_path) == 3
    (reason,) = capture.untracked
    assert str(reason) == (
        f"attach: the job runs without capture. pyspark {version} is not supported. "
        "Capture supports Spark 4.0 to 4.3 on Python 3.10 to 3.12."
    )
    (step,) = provspark.open((tmp_path / "store").as_uri()).graph.manifests
    assert (step.status, step.untracked) == ("succeeded", (reason,))
    with (
        pytest.raises(CaptureError, match="is not supported"),
        attach(store=(tmp_path / "store").as_uri(), step="s", on_error="fail"),
    ):
        pass


@pytest.mark.parametrize("on_error", ["warn", "fail"])
def test_each_import_fails_in_turn(on_error: str, tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parent / "_failing_imports.py"), str(tmp_path), on_error]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    assert len(results) > 100
    for name, code, output, ran in results:
        first, *others = output.splitlines()
        if on_error == "fail":
            assert (code, ran) == (1, "") and f"{name} is broken" in output, name
            continue
        assert (code, ran, others) == (3, "x", ["ran a b"]), (name, output)
        assert f"{name} is broken" in first and runner.SUPPORTED in first, (name, first)


def test_the_runner_needs_no_package(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("import sys\nprint(__name__, sys.argv[1:])\nsys.exit(4)\n")
    alone = [sys.executable, "-I", "-S", runner.__file__, "--store", str(tmp_path / "store"), "--", "job.py", "a"]
    done = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (4, "__main__ ['a']\n")
    assert done.stderr == (
        "provspark: the job runs without capture: ModuleNotFoundError: No module named 'provspark'. "
        + runner.SUPPORTED
        + "\n"
    )


def test_the_runner_is_python_of_3_8() -> None:
    """Of a driver that has an older Spark."""
    tree = ast.parse(Path(runner.__file__).read_text(), feature_version=(3, 8))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg in ("slots", "strict", "kw_only")]


def test_the_versions_that_are_named_are_those_that_are_supported() -> None:
    assert sorted(supported.SPARKS) == ["4.0", "4.1", "4.2", "4.3"]
    assert "Spark 4.0 to 4.3" in runner.SUPPORTED == supported.SUPPORTED


CALLED = ("checkpoint", "context_stops", "effect", "model_saved", "rdd_of", "refused", "stopped", "transposed")
"""Methods of `ScriptCapture` that make calls of the script's."""
BOUNDARY = (
    *("tracker/attachment.py", "tracker/boundary.py", "tracker/intercept/patches.py"),
    *(f"tracker/capture.py:Capture.{name}" for name in ("__init__", "begin", "end", "lost", "withdraw")),
    *(f"tracker/session/script_capture.py:ScriptCapture.{name}" for name in CALLED),
    *("tracker/intercept/events.py:CommandEvents.unseen", "tracker/intercept/interceptor.py:_Callback"),
    *("tracker/intercept/import_hook.py:WhenImported.find_spec", "tracker/session/rdds.py:Rdds.of_frame"),
    *(f"tracker/session/read_capture.py:ReadCapture.{name}" for name in ("_guard", "_run", "frame")),
    *(f"tracker/session/caches.py:Caches.{name}" for name in ("checkpoint", "transposed")),
)
"""What the script calls, or what those call at once: they guard all others."""
GUARDS = (
    "tracker/files/step_files.py:FilesOfDriver.end",
    "tracker/files/driver.py:DriverFiles.end",
    "tracker/files/arrow.py:ArrowPatches.remove",
)
"""What guards all that it does, or takes patches away, and so is called without a guard when a step ends."""


@pytest.mark.long
@pytest.mark.parametrize("part", range(int(os.environ.get("PROVSPARK_CALLS", "2"))))
def test_any_call_fails(part: int, spark: Any, plain: Any, tmp_path: Path) -> None:
    """Of each sixteenth function that runs in the driver the first call; of all of them with PROVSPARK_CALLS=16."""
    every = Failing()
    assert tracked(spark, tmp_path / "all", every) == plain[0]
    assert written(tmp_path / "all") == plain[1]
    assert len(every.names) > 400
    wrong = []
    chosen = [n for n in every.names if not n.startswith(BOUNDARY)][part::16]
    for k, name in enumerate(n for n in chosen if n not in GUARDS):
        try:
            if (tracked(spark, tmp_path / str(k), Failing(name)), written(tmp_path / str(k))) != plain:
                wrong.append(f"{name}: other data")
        except Exception as e:
            wrong.append(f"{name}: {type(e).__name__}: {str(e).splitlines()[0]}")
            spark.catalog.clearCache()
            spark.catalog.dropTempView("few")
        wrong += [f"{name}: {attribute} is still ours" for attribute in patched()]
        shutil.rmtree(tmp_path / str(k))
    assert not wrong, "\n".join(wrong)
    with attach(store=(tmp_path / "store").as_uri(), step="s") as capture:  # nothing of them is left
        assert job(spark, tmp_path / "last") == plain[0]
    assert capture.untracked == ()


def tracked(spark: Any, folder: Path, failing: Failing) -> list[Any]:
    with failing.during(), attach(store=(folder / "store").as_uri(), step="s"):
        return job(spark, folder)
