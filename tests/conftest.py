"""Shared set-up: the oracle on the path, and one small Spark session for the whole suite."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HANGS = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
"""Off in the tests: on Spark 4.2.0 a Python function straight above a scan of Parquet waits for ever (SPARK-58241)."""

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""Small data is not worth the thorough compiler's while; without it Java reserves too little space for code."""

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
os.environ["PYARROW_IGNORE_TIMEZONE"] = "1"  # pandas on Spark warns without it
os.environ.setdefault("SPARK_SUBMIT_OPTS", JAVA)  # for jobs in processes of their own
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to write the plans in tests/tracker/families anew."""
    parser.addoption("--update-plans", action="store_true", help="write the golden plans anew")


def pytest_configure(config: pytest.Config) -> None:
    """Let pass that PySpark leaves the sockets open that it fetched rows through, and what only Spark 4.2 warns of."""
    config.addinivalue_line("filterwarnings", "ignore:The return type of DataFrame.toJSON:UserWarning")
    config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.*127.0.0.1:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of operators that this version of Spark lacks."""
    since = [(item, mark) for item in items for mark in item.iter_markers("since")]
    if since:
        from pyspark import __version__ as spark

        for item, mark in since:
            (version,) = mark.args
            if _release(spark) < _release(version):
                item.add_marker(pytest.mark.skip(reason=f"Spark has it from {version} on"))


def _release(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """With `--dist loadgroup`, keep together what shares costly set-up or processes. Batches of random plans, histories
    and programs go anywhere.

    It goes by names: pytest 9.2 leaves no effect to xdist's own mark for it.
    """
    if config.getoption("dist") != "loadgroup":
        return None

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if re.search(r"::test_random_(plans|histories|programs)\[", nodeid):
                return nodeid
            shared = re.match("tests/ui/|tests/replay/", nodeid)
            return shared[0] if shared else nodeid.split("::")[0]

    return Groups(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell what was proved by running queries again."""
    sums: dict[str, list[int]] = {}
    for report in (r for reports in terminalreporter.stats.values() for r in reports if hasattr(r, "user_properties")):
        for name, counts in report.user_properties if getattr(report, "when", "") == "call" else ():
            sums[name] = [a + b for a, b in zip(sums.get(name, [0] * len(counts)), counts, strict=True)]
    for name, (rows, returned, taken, fell) in sorted(sums.items()):
        terminalreporter.write_line(
            f"{name}: {returned} of {rows} rows came back from their witnesses alone;"
            f" {fell} of {taken} came less often without those of one occurrence"
        )


@pytest.fixture(autouse=True)
def active_session() -> Iterator[None]:
    """Check that a test does not leave replay's session active: whatever asks for the active one would run in it."""
    yield
    session = sys.modules.get("pyspark.sql.session")
    active = session and session.SparkSession._activeSession
    assert not getattr(active, "_provspark_replay", False), "replay's session is still active"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return a session on two cores; whoever changes its configuration puts it back."""
    from pyspark.sql import SparkSession

    warehouse = tmp_path_factory.mktemp("warehouse")
    session = (
        SparkSession.builder.master(os.environ.get("PROVSPARK_MASTER", "local[2]"))
        .appName("provspark-tests")
        .config("spark.ui.enabled", False)
        .config("spark.sql.shuffle.partitions", 3)
        .config("spark.sql.session.timeZone", "UTC")
        .config(HANGS, False)
        .config("spark.sql.warehouse.dir", warehouse.as_uri())
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f"{JAVA} -Dderby.system.home={warehouse}")
        .config("spark.executor.extraJavaOptions", JAVA)
        .config("spark.log.level", "ERROR")
        .config("spark.ui.showConsoleProgress", False)
        .getOrCreate()
    )
    yield session
    session.stop()
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of closing after pytest closed the log


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where cases place their inputs."""
    return tmp_path_factory.mktemp("sources")
