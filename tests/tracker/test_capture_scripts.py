"""Scripts run as processes of their own: what they print, raise and return is what plain Python gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from oracle import lineage, outputs
from oracle.tables import DEPT

import provspark
from provspark.model.steps import Manifest

pytestmark = pytest.mark.spark

SESSION = """
    from pyspark.sql import SparkSession

    def session(cores):
        return (
            SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", False)
            .config("spark.sql.shuffle.partitions", 2).config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1").config("spark.log.level", "ERROR").getOrCreate()
        )
"""
GOOD = """
    import json
    import sys
    from dataclasses import dataclass

    from beside import session

    print(json.dumps([__name__, __file__, sys.argv[1:]]), flush=True)

    @dataclass
    class Wage:
        amount: int

    def raised(w):
        return Wage(w).amount + 1

    def main(source, out):
        from pyspark.sql import functions as sf
        spark = session(2)
        dept = spark.read.parquet(source)
        dept.filter("w > 1").write.parquet(out + "/a")
        dept.groupBy("k").agg(sf.sum("w").alias("s")).write.parquet(out + "/b")
        spark.stop()
        spark = session(1)
        spark.read.parquet(out + "/a").filter("w > 5").write.mode("overwrite").csv(out + "/c")
        other = spark.newSession()
        other.read.parquet(source).select(sf.udf(raised, "int")("w").alias("r")).write.parquet(out + "/d")
        spark.stop()

    if __name__ == "__main__":
        main(*sys.argv[1:3])
"""
BAD = """
    import sys
    from beside import session

    def deeper(out):
        spark = session(1)
        spark.read.parquet(sys.argv[1]).write.parquet(out)
        raise LookupError("no such luck")

    def main():
        try:
            deeper(sys.argv[2])
        except LookupError as e:
            raise RuntimeError("gave up") from e

    main()
"""
QUICK = {
    "exit 3": "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)",
    "exit with a text": "raise SystemExit('that was it')",
    "exit with nothing": "import sys; sys.exit()",
    "raises": "def f(x):\n    return 1 / x\n\n\nf(0)",
    "raises while handling": "try:\n    {}['a']\nexcept KeyError:\n    int('b')",
    "no syntax": "a = 1\nb = = 2\n",
    "no module": "import module_that_is_not_there",
    "ends well": "import atexit\natexit.register(print, 'bye')\nassert __name__ == '__main__' and not __doc__",
    "own argparse": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--store')\n"
        "print(p.parse_args().store)\np.error('no')"
    ),
}


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def tracked(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    store = (folder / "store").as_uri()
    options = ["--store", store, "--task-id", "the task", "--run-id", "the run"]
    return run("-m", "provspark.tracker.runner", *options, "--", *command, cwd=folder)


def script(folder: Path, text: str) -> str:
    """Write a script, with the module that it imports beside it, in a folder that isn't the working one."""
    (folder / "jobs").mkdir()
    (folder / "jobs" / "app.py").write_text(dedent(text))
    (folder / "jobs" / "beside.py").write_text(dedent(SESSION))
    return "jobs/app.py"


def the_step(folder: Path) -> Manifest:
    (found,) = provspark.open((folder / "store").as_uri()).graph.manifests
    return found


@pytest.mark.parametrize("name", QUICK)
def test_as_plain_python(name: str, tmp_path: Path) -> None:
    app = script(tmp_path, QUICK[name])
    plain = run(app, "--store", "mine", cwd=tmp_path)
    found = tracked(tmp_path, app, "--store", "mine")
    assert (found.returncode, found.stdout, found.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    step = the_step(tmp_path)
    assert step.status == ("failed" if plain.returncode else "succeeded")
    assert (step.key.task_id, step.key.run_id) == ("the task", "the run")


def test_no_such_script(tmp_path: Path) -> None:
    plain, found = run("none.py", cwd=tmp_path), tracked(tmp_path, "none.py")
    assert found.returncode == plain.returncode == 2
    assert "none.py" in found.stderr


def test_good_script(tmp_path: Path) -> None:
    """Arguments, imports beside it, contexts one after the other, sessions, writes, functions sent to workers."""
    app, source = script(tmp_path, GOOD), str(DEPT.place(tmp_path))
    found = tracked(tmp_path, app, source, str(tmp_path), "--last", "a b")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[0]) == [
        "__main__",
        f"{tmp_path}/{app}",
        [source, str(tmp_path), "--last", "a b"],
    ]
    step = the_step(tmp_path)
    assert (step.status, step.untracked) == ("succeeded", ())
    assert [w.output.dataset.name.rsplit("/", 1)[1] for w in step.writes] == ["a", "b", "c", "d"]
    answers = lineage.Lineage(tmp_path / "store", step, [DEPT], {"dept": Path(source)})
    assert set(answers.backward(tmp_path / "a", 7)) == {frozenset({("dept", 0, i)}) for i in range(1, 8)}
    assert set(answers.backward(tmp_path / "c", 3)) == {frozenset({("dept", 0, i)}) for i in (5, 6, 7)}
    sums = outputs.read(tmp_path / "b").rows
    assert dict(zip(sums, answers.backward(tmp_path / "b", 5), strict=True)) == {
        (1, 5): {("dept", 0, 0), ("dept", 0, 3)},
        (2, 3): {("dept", 0, 2)},
        (5, 5): {("dept", 0, 4)},
        (7, 12): {("dept", 0, 5), ("dept", 0, 6)},
        (None, 9): {("dept", 0, 1), ("dept", 0, 7)},
    }
    assert sorted(outputs.read(tmp_path / "d").rows) == [(w,) for w in (2, 3, 4, 5, 6, 7, 7, 8)]
    sites = [w.site for w in step.writes]
    lines = dedent(GOOD).splitlines()
    assert [s.rsplit(":", 1)[0] for s in sites] == [f"{tmp_path}/{app}"] * 4
    assert all(".write." in lines[int(s.rsplit(":", 1)[1]) - 1] for s in sites)


@pytest.mark.long
def test_script_that_raises_after_a_write(tmp_path: Path) -> None:
    app, source = script(tmp_path, BAD), str(DEPT.place(tmp_path))
    found = tracked(tmp_path, app, source, str(tmp_path / "out"))
    assert found.returncode == 1
    trace = found.stderr[found.stderr.index("Traceback (most recent call last)") :]
    frames = [line.split(",")[0] for line in trace.splitlines() if line.startswith('  File "')]
    where = f'  File "{tmp_path}/{app}"'
    assert frames == [where] * 4
    assert "LookupError: no such luck" in trace and trace.rstrip().endswith("RuntimeError: gave up")
    step = the_step(tmp_path)
    assert (step.status, len(step.writes), step.untracked) == ("failed", 1, ())
    assert step.error == "RuntimeError: gave up"
    assert (
        len(provspark.open((tmp_path / "store").as_uri()).backward(str(tmp_path / "out"), rows=range(8)).table()) == 8
    )
